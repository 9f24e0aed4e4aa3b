import { type ComponentProps, type DialogHTMLAttributes, type ReactNode, useEffect, useId, useRef } from 'react';
import { ActionForm } from './action-form.tsx';
import { Button, IconButton } from './button.tsx';

interface ModalProps extends DialogHTMLAttributes<HTMLDialogElement> {
  onClose: () => void;
}

/** A modal dialog. Escape closes it, and the focus returns to the element that opened it. */
export function Modal({ onClose, ...attributes }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    const element = dialog.current!;
    if (!element.open) element.showModal();
    return () => {
      element.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  const onCancel: ModalProps['onCancel'] = (event) => {
    event.preventDefault();
    onClose();
  };
  return <dialog ref={dialog} onCancel={onCancel} {...attributes} />;
}

interface DrawerProps {
  title: ReactNode;
  onClose: () => void;
  /** A `drawer` shows a record beside its list; a `box` asks for input. */
  kind?: 'drawer' | 'box';
  children: ReactNode;
}

/** A modal dialog with a title, which a click beside it closes too. */
export function Drawer({ title, onClose, kind = 'drawer', children }: DrawerProps) {
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
        <IconButton glyph="close" label="Close" onClick={onClose} />
      </header>
      <div className="content">{children}</div>
    </Modal>
  );
}

interface FormProps extends ComponentProps<typeof ActionForm>, Pick<DrawerProps, 'title' | 'onClose' | 'kind'> {
  /** What the action has created, which replaces the form. */
  result?: ReactNode;
}

/** A dialog with a form. */
export const FormDialog = ({ title, onClose, kind = 'box', result, ...form }: FormProps) => (
  <Drawer title={title} onClose={onClose} kind={kind}>
    {result ? (
      <>
        {result}
        <div className="actions">
          <Button className="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </>
    ) : (
      <ActionForm {...form} />
    )}
  </Drawer>
);
