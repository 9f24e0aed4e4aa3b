import { type DialogHTMLAttributes, useEffect, useRef } from 'react';

interface Props extends DialogHTMLAttributes<HTMLDialogElement> {
  onClose: () => void;
}

/** A modal dialog. Escape closes it, and the focus returns to the element that opened it. */
export function Modal({ onClose, children, ...attributes }: Props) {
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
  return (
    <dialog
      ref={dialog}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      {...attributes}
    >
      {children}
    </dialog>
  );
}
