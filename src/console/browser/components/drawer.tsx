import { type ReactNode, useEffect, useId, useRef } from 'react';
import { Glyph } from './glyph.tsx';

interface Props {
  title: ReactNode;
  onClose: () => void;
  /** A `drawer` shows a record beside its list; a `box` asks for input. */
  kind?: 'drawer' | 'box';
  children: ReactNode;
}

/** A modal dialog. Escape closes it, and the focus returns to what opened it. */
export function Drawer({ title, onClose, kind = 'drawer', children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current!;
    if (!element.open) element.showModal();
    return () => {
      element.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same, and there is a button.
    <dialog
      ref={dialog}
      className={kind}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClick={({ target }) => target === dialog.current && onClose()}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <button type="button" className="plain icon" aria-label="Close" onClick={onClose}>
          <Glyph name="close" />
        </button>
      </header>
      <div className="content">{children}</div>
    </dialog>
  );
}
