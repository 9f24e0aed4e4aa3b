import { useState } from 'react';

/** Shows a secret once, with a button that copies it. */
export function SecretBox({ label, secret }: { label: string; secret: string }) {
  const [copied, setCopied] = useState(false);
  return (
    <section className="notice good stack" aria-live="polite">
      <p>
        <strong>{label}</strong> It is shown once: the service stores no copy that it could show again.
      </p>
      <div className="secret">
        <code>{secret}</code>
        <button type="button" onClick={() => navigator.clipboard.writeText(secret).then(() => setCopied(true))}>
          {copied ? 'Copied' : 'Copy'}
        </button>
      </div>
    </section>
  );
}
