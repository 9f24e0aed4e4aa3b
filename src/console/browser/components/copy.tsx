import { useState } from 'react';
import { IconButton } from './button.tsx';

/** Copies a text, and says so. */
export function CopyButton({ text, label, onCopied }: { text: string; label: string; onCopied?: () => void }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    onCopied?.();
  };
  return <IconButton glyph={copied ? 'done' : 'copy'} label={copied ? 'Copied' : label} onClick={copy} />;
}

/** An identifier, with a button that copies it. */
export const Identifier = ({ id }: { id: string }) => (
  <span className="identifier">
    <code className="wrap">{id}</code>
    <CopyButton text={id} label={`Copy ${id}`} />
  </span>
);
