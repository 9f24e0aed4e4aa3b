import { type ReactNode, useId } from 'react';
import { Glyph } from './glyph.tsx';
import { Modal } from './modal.tsx';

interface Props {
  title: ReactNode;
  onClose: () => void;
  /** A `drawer` shows a record beside its list; a `box` asks for input. */
  kind?: 'drawer' | 'box';
  children: ReactNode;
}

/** A modal dialog with a title, which a click beside it closes too. */
export function Drawer({ title, onClose, kind = 'drawer', children }: Props) {
  const heading = useId();
  return (
    <Modal
      className={kind}
      aria-labelledby={heading}
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <button type="button" className="plain icon" aria-label="Close" onClick={onClose}>
          <Glyph name="close" />
        </button>
      </header>
      <div className="content">{children}</div>
    </Modal>
  );
}
