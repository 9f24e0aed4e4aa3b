import { type ReactNode, useEffect, useRef } from 'react';
import { useLocation } from 'react-router';
import { Restricted } from '../components/notices.tsx';
import { EmptyPage } from '../components/page.tsx';
import { LiveProvider } from '../shared/live.tsx';
import { useScope } from '../shared/scope.tsx';
import { Banners } from './banners.tsx';
import { PAGES, type PageEntry } from './pages.ts';
import { Sidebar } from './sidebar.tsx';
import { TopBar } from './top-bar.tsx';

/** Navigation, the choice of region and builder, and the page. */
export function Layout({ children }: { children: ReactNode }) {
  const { builder, isUnknownBuilder, can } = useScope();
  const { pathname } = useLocation();
  const main = useRef<HTMLElement>(null);
  const entered = useRef(pathname);
  const page = PAGES.find(({ path }) => pathname.startsWith(path));
  useEffect(() => {
    document.title = `${page?.title ?? 'Console'} – Builder Integration`;
    // Screen readers and the keyboard continue in the new page.
    if (entered.current !== pathname) main.current?.focus({ preventScroll: true });
    entered.current = pathname;
  }, [pathname, page?.title]);
  const needsBuilder = page?.section === 'Builder';
  return (
    <LiveProvider builderId={needsBuilder ? builder?.id : undefined}>
      <a className="skip" href="#main">
        Skip to the page
      </a>
      <div className="app">
        <Sidebar />
        <div>
          <TopBar showsBuilder={needsBuilder} />
          <main id="main" ref={main} tabIndex={-1}>
            <Banners />
            {needsBuilder && !builder ? (
              <NoBuilder page={page} isUnknown={isUnknownBuilder} />
            ) : page && !can(page.personal ? 'person.read' : (page.action ?? 'records.read')) ? (
              <NotPermitted page={page} />
            ) : (
              children
            )}
          </main>
        </div>
      </div>
    </LiveProvider>
  );
}

/** A message that there is no builder whose records the page could show. */
const NoBuilder = ({ page, isUnknown }: { page: PageEntry; isUnknown: boolean }) => (
  <EmptyPage heading={page.title} title={isUnknown ? 'There is no such builder' : 'This region has no builders'}>
    {isUnknown
      ? 'This region does not have the builder of the address. Choose one at the top, or another region.'
      : 'Import one, or choose another region.'}
  </EmptyPage>
);

/** A message about who may see a page that the role does not allow. */
const NotPermitted = ({ page: { title, personal, action } }: { page: PageEntry }) => (
  <EmptyPage heading={title} title="Your role does not allow this page">
    {personal && <p>Its rows name people.</p>}
    <Restricted action={personal ? 'person.read' : action!} to="see it" />
  </EmptyPage>
);
