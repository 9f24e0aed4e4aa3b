import { useContext, useLayoutEffect } from 'react';
import { useScope } from '../shared/scope.tsx';
import { CopyButton } from './copy.tsx';
import { UncopiedSecret } from './drawer.tsx';

/** A message about who may do an action, where the own role may not: `Only operators and administrators can end a visit.` */
export function Restricted({ action, to }: { action: string; to: string }) {
  const { roleFor } = useScope();
  const role = roleFor(action);
  if (!role) return null;
  return (
    <p className="soft small">
      Only {role === 'ADMIN' ? 'administrators' : 'operators and administrators'} can {to}.
    </p>
  );
}

/** A notice that another person changed the record first. @param present What is stored now, in words. */
export const EditConflict = ({ present }: { present?: string }) => (
  <p className="notice warn" role="alert">
    Somebody else changed this in the meantime. Your change was not saved: look at the present state and decide again.
    {present && ` Now: ${present}.`}
  </p>
);

/** Shows a secret once, with a button that copies it, without which its dialog asks before it closes. */
export function SecretBox({ label, secret }: { label: string; secret: string }) {
  const setUncopied = useContext(UncopiedSecret);
  // Before the secret is painted, or a key that is pressed at once closes its dialog.
  useLayoutEffect(() => {
    setUncopied(true);
    return () => setUncopied(false);
  }, [setUncopied]);
  return (
    <section className="notice good stack" aria-live="polite">
      <p>
        <strong>{label}</strong> It is shown once: the service stores no copy that it could show again.
      </p>
      <div className="secret">
        <code>{secret}</code>
        <CopyButton key={secret} text={secret} label="Copy" onCopied={() => setUncopied(false)} />
      </div>
    </section>
  );
}
