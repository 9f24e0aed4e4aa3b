import { useRef } from 'react';
import { NavLink, useLocation } from 'react-router';
import { Button } from '../components/button.tsx';
import { Glyph } from '../components/glyph.tsx';
import { createConsoleClients } from '../graphql/client.ts';
import { getStatus } from '../graphql/errors.ts';
import { SignOutDocument } from '../graphql/generated.ts';
import icon from '../icon.svg';
import { useAddress } from '../shared/filters.ts';
import { formatEnum } from '../shared/format.ts';
import { useScope } from '../shared/scope.tsx';
import { EXPLORER, PAGES } from './pages.ts';

/** Id of the navigation, which narrow windows show over the page. */
export const MENU_ID = 'menu';

export function Sidebar() {
  const { me, can } = useScope();
  const { pathname } = useLocation();
  const address = useAddress();
  const menu = useRef<HTMLElement>(null);
  const signOut = async () => {
    // Each session ends those of all regions. The session of the page's region may have ended already.
    for (const region of [me.regionId, 'au1', 'us1']) {
      const { error } = await createConsoleClients(region).uncached.mutation(SignOutDocument, {}).toPromise();
      if (!error) break;
      if (getStatus(error) !== 401) return;
    }
    location.assign('/console/sign-in');
  };
  return (
    <aside className="sidebar" aria-label="Console" id={MENU_ID} popover="auto" ref={menu}>
      <div className="logo">
        <img src={icon} alt="" width="28" height="28" />
        <span>
          Console
          <small>Builder Integration</small>
        </span>
      </div>
      <nav aria-label="Pages of the console">
        {(['Builder', 'Service'] as const).map((section) => (
          <div key={section}>
            <h2>{section}</h2>
            <ul>
              {PAGES.filter((page) => page.section === section && (!page.action || can(page.action))).map(
                ({ path, title, glyph }) => (
                  <li key={path}>
                    <NavLink
                      to={address(path)}
                      onClick={() => menu.current!.hidePopover()}
                      reloadDocument={(path === EXPLORER) !== (pathname === EXPLORER)}
                    >
                      <Glyph name={glyph} />
                      {title}
                    </NavLink>
                  </li>
                ),
              )}
            </ul>
          </div>
        ))}
      </nav>
      <div className="sidebar-foot small">
        <div>
          <strong>{me.name}</strong>
          <span className="soft">{formatEnum(me.role)}</span>
        </div>
        <Button onClick={signOut}>Sign out</Button>
      </div>
    </aside>
  );
}
