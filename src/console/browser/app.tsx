import { lazy, Suspense, useMemo } from 'react';
import { BrowserRouter, Navigate, Route, Routes, useLocation, useSearchParams } from 'react-router';
import { Provider } from 'urql';
import { RenderFailure } from './components/render-failure.tsx';
import { Loading } from './components/states.tsx';
import { createConsoleClients, UncachedClient } from './graphql/client.ts';
import { Layout } from './layout/layout.tsx';
import { useAddress } from './shared/filters.ts';
import { ScopeProvider } from './shared/scope.tsx';
import { currentRegion } from './shared/session.ts';

/** Pages are loaded when they are opened. */
const TodayPage = lazy(() => import('./pages/today/today.page.tsx'));
const AttendancePage = lazy(() => import('./pages/attendance/attendance.page.tsx'));
const TimesheetsPage = lazy(() => import('./pages/records/timesheets.page.tsx'));
const InductionsPage = lazy(() => import('./pages/records/inductions.page.tsx'));
const InsurancesPage = lazy(() => import('./pages/records/insurances.page.tsx'));
const PhotosPage = lazy(() => import('./pages/photos/photos.page.tsx'));
const ReportsPage = lazy(() => import('./pages/photos/reports.page.tsx'));
const IntegrationsPage = lazy(() => import('./pages/integrations/integrations.page.tsx'));
const PeoplePage = lazy(() => import('./pages/people/people.page.tsx'));
const AuditPage = lazy(() => import('./pages/people/audit.page.tsx'));

function Pages() {
  const [parameters] = useSearchParams();
  const { pathname, search } = useLocation();
  const region = parameters.get('region') ?? currentRegion();
  const { cached, uncached } = useMemo(() => createConsoleClients(region), [region]);
  return (
    <Provider value={cached} key={region}>
      <UncachedClient value={uncached}>
        <ScopeProvider>
          <Layout>
            <RenderFailure address={pathname + search}>
              <Suspense fallback={<Loading />}>
                <Routes>
                  <Route path="/" element={<ToToday />} />
                  <Route path="/today" element={<TodayPage />} />
                  <Route path="/attendance" element={<AttendancePage />} />
                  <Route path="/timesheets" element={<TimesheetsPage />} />
                  <Route path="/inductions" element={<InductionsPage />} />
                  <Route path="/insurances" element={<InsurancesPage />} />
                  <Route path="/photos" element={<PhotosPage />} />
                  <Route path="/reports" element={<ReportsPage />} />
                  <Route path="/integrations/*" element={<IntegrationsPage />} />
                  <Route path="/people" element={<PeoplePage />} />
                  <Route path="/audit" element={<AuditPage />} />
                  <Route path="*" element={<NoSuchPage />} />
                </Routes>
              </Suspense>
            </RenderFailure>
          </Layout>
        </ScopeProvider>
      </UncachedClient>
    </Provider>
  );
}

const NoSuchPage = () => (
  <>
    <h1>There is no such page</h1>
    <p className="soft">The menu lists those that there are.</p>
  </>
);

function ToToday() {
  const address = useAddress();
  return <Navigate to={address('/today')} replace />;
}

export const App = () => (
  <BrowserRouter basename="/console">
    <Pages />
  </BrowserRouter>
);
