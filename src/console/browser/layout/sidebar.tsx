import { NavLink, useLocation } from 'react-router';
import { useClient } from 'urql';
import { Button } from '../components/button.tsx';
import { Glyph } from '../components/glyph.tsx';
import { SignOutDocument } from '../graphql/generated.ts';
import icon from '../icon.svg';
import { useAddress } from '../shared/filters.ts';
import { formatEnum } from '../shared/format.ts';
import { useScope } from '../shared/scope.tsx';
import { EXPLORER, PAGES } from './pages.ts';

interface Props {
  /** Whether a narrow window shows the navigation, over the page. */
  open: boolean;
  onClose: () => void;
}

export function Sidebar({ open, onClose }: Props) {
  const { me, can } = useScope();
  const { pathname } = useLocation();
  const address = useAddress();
  const client = useClient();
  const signOut = async () => {
    const { error } = await client.mutation(SignOutDocument, {}).toPromise();
    if (!error) location.assign('/console/sign-in');
  };
  return (
    <aside
      className="sidebar"
      data-open={open}
      aria-label="Console"
      onKeyDown={({ key }) => key === 'Escape' && onClose()}
    >
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
                      onClick={onClose}
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
