import { useEffect, useState } from 'react';
import { useClient } from 'urql';
import { Drawer } from '../components/drawer.tsx';
import { Glyph } from '../components/glyph.tsx';
import { ScopeDocument } from '../graphql/generated.ts';
import { useScope } from '../shared/scope.tsx';
import { signInAddress, useConnection } from '../shared/session.ts';

/** Messages about the connection. What is on the page stays, with the input of forms. */
export function Banners() {
  const connection = useConnection();
  if (connection === 'ended') return <SessionEnded />;
  if (connection === 'online') return null;
  return (
    <div className="banner" role="alert">
      <span>
        <Glyph name="offline" /> No connection. The page shows what was loaded last, and updates when the service can be
        reached again.
      </span>
    </div>
  );
}

/** Lets the person sign in in another tab and go on here, so that nothing that was typed is lost. */
function SessionEnded() {
  const client = useClient();
  const { me } = useScope();
  const [dismissed, setDismissed] = useState(false);
  const check = () => client.query(ScopeDocument, { hasBuilder: false }, { requestPolicy: 'network-only' }).toPromise();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the check is repeated on each return to the tab.
  useEffect(() => {
    const onVisible = () => {
      if (document.visibilityState === 'visible') check();
    };
    document.addEventListener('visibilitychange', onVisible);
    window.addEventListener('focus', onVisible);
    return () => {
      document.removeEventListener('visibilitychange', onVisible);
      window.removeEventListener('focus', onVisible);
    };
  }, []);
  const link = (
    <a className="button" href={signInAddress('/console/today')} target="_blank" rel="noopener opener">
      Sign in again
    </a>
  );
  if (dismissed)
    return (
      <div className="banner bad" role="alert">
        Your session has ended. {link}
      </div>
    );
  return (
    <Drawer title="Your session has ended" kind="box" onClose={() => setDismissed(true)}>
      <p>
        Sign in again as <strong>{me.email}</strong> in a new tab, then return to this one. What you have typed here is
        kept.
      </p>
      <div className="actions">
        {link}
        <button type="button" onClick={check}>
          I have signed in
        </button>
      </div>
    </Drawer>
  );
}
