import { Suspense, useMemo } from 'react';
import { BrowserRouter, Navigate, Route, Routes, useLocation, useSearchParams } from 'react-router';
import { Provider } from 'urql';
import { Loading, RenderFailure } from './components/states.tsx';
import { createConsoleClients, UncachedClient } from './graphql/client.ts';
import { Layout } from './layout/layout.tsx';
import { useAddress } from './shared/filters.ts';
import { lazyComponent } from './shared/lazy-component.ts';
import { ScopeProvider } from './shared/scope.tsx';
import { currentRegion } from './shared/session.ts';

/** Modules of pages by path. */
const MODULES = {
  '/today': () => import('./pages/today/today.page.tsx'),
  '/attendance': () => import('./pages/attendance/attendance.page.tsx'),
  '/timesheets': () => import('./pages/records/timesheets.page.tsx'),
  '/workers': () => import('./pages/records/workers.page.tsx'),
  '/inductions': () => import('./pages/records/inductions.page.tsx'),
  '/insurances': () => import('./pages/records/insurances.page.tsx'),
  '/photos': () => import('./pages/photos/photos.page.tsx'),
  '/reports': () => import('./pages/photos/reports.page.tsx'),
  '/integrations': () => import('./pages/integrations/integrators.page.tsx'),
  '/integrations/:integratorId': () => import('./pages/integrations/integrator.page.tsx'),
  '/people': () => import('./pages/people/people.page.tsx'),
  '/audit': () => import('./pages/people/audit.page.tsx'),
  '/explorer': () => import('./explorer/explorer.page.tsx'),
};

/** Pages by path, which are loaded when they are opened. */
const ROUTES = Object.entries(MODULES).map(([path, load]) => [path, lazyComponent(load)] as const);

function Pages() {
  const [parameters] = useSearchParams();
  const { pathname, search } = useLocation();
  const address = useAddress();
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
                  <Route path="/" element={<Navigate to={address('/today')} replace />} />
                  {ROUTES.map(([path, Page]) => (
                    <Route key={path} path={path} element={<Page />} />
                  ))}
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

export const App = () => (
  <BrowserRouter basename="/console">
    <Pages />
  </BrowserRouter>
);
