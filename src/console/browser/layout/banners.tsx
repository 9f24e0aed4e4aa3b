import { useEffect, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Drawer } from '../components/drawer.tsx';
import { Glyph } from '../components/glyph.tsx';
import { ScopeDocument } from '../graphql/generated.ts';
import { useRequest } from '../graphql/use-request.ts';
import { useScope } from '../shared/scope.tsx';
import { signInAddress, useConnection } from '../shared/session.ts';

/** Messages about the connection. What is on the page stays, with the input of forms. */
export function Banners() {
  const connection = useConnection();
  const check = useSessionCheck();
  if (connection === 'ended') return <SessionEnded onCheck={check} />;
  if (connection === 'online') return null;
  return (
    <div className="banner warn" role="alert">
      <span>
        <Glyph name="offline" /> No connection. The page shows what was loaded last, and updates when the service can be
        reached again.
      </span>
    </div>
  );
}

/**
 * Returns a function that reads who is signed in; each return to the tab calls it too. The page is loaded again when another person
 * has signed in in another tab: it shows the name, role and data of the person before.
 */
function useSessionCheck(): () => void {
  const { me } = useScope();
  const { data, retry } = useRequest(ScopeDocument, { hasBuilder: false }, { pause: true });
  useEffect(() => {
    if (data && data.me.id !== me.id) location.reload();
    window.addEventListener('focus', retry);
    return () => window.removeEventListener('focus', retry);
  });
  return retry;
}

/** Offers a sign-in in another tab, so that the input of this page is not lost. */
function SessionEnded({ onCheck }: { onCheck: () => void }) {
  const { me, region } = useScope();
  const [dismissed, setDismissed] = useState(false);
  const link = (
    <a className="button" href={signInAddress(`/console/today?region=${region}`)} target="_blank" rel="noopener opener">
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
        <Button onClick={onCheck}>I have signed in</Button>
      </div>
    </Drawer>
  );
}
