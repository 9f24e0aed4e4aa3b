import { createContext, type DialogHTMLAttributes, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { type Succeeded, useAction } from '../graphql/use-action.ts';
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
  // Browsers close a dialog at the second Escape in a row, and those below it at the third, without asking the page.
  const onKeyDown: ModalProps['onKeyDown'] = (event) => {
    if (event.key !== 'Escape' || event.nativeEvent.isComposing) return;
    event.preventDefault();
    event.stopPropagation();
    onClose();
  };
  // A gesture of a phone closes a dialog too.
  const reopen = () => {
    dialog.current?.showModal();
    onClose();
  };
  // It takes the focus of a click on its text, so that it receives the keys.
  return (
    <dialog ref={dialog} tabIndex={-1} onKeyDown={onKeyDown} onCancel={onCancel} onClose={reopen} {...attributes} />
  );
}

/** Sets whether the drawer shows a secret that was not copied, and which it could not show again. */
export const UncopiedSecret = createContext<(isUncopied: boolean) => void>(() => {});

/** What drawers of a record that a page has read are given. */
export interface RecordDrawerProps {
  onClose: () => void;
  /** Reads the record again. */
  onChanged: () => void;
}

interface DrawerProps {
  title: ReactNode;
  onClose: () => void;
  /** A `drawer` shows a record beside its list; a `box` asks for input. */
  kind?: 'drawer' | 'box';
  children: ReactNode;
}

/** A modal dialog with a title, which a click beside it closes too. One with a secret that was not copied asks first. */
export function Drawer({ title, onClose, kind = 'drawer', children }: DrawerProps) {
  const heading = useId();
  const [hasSecret, setHasSecret] = useState(false);
  const [isClosing, setIsClosing] = useState(false);
  const close = () => (hasSecret ? setIsClosing(true) : onClose());
  return (
    <Modal
      className={kind}
      aria-labelledby={heading}
      onClose={close}
      onClick={({ target, currentTarget }) => target === currentTarget && close()}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        <IconButton glyph="close" label="Close" onClick={close} />
        {hasSecret && isClosing && (
          <p className="notice warn actions" role="alert">
            What was not copied cannot be shown again.
            <Button onClick={() => setIsClosing(false)}>Keep it open</Button>
            <Button className="danger" onClick={onClose}>
              Close without a copy
            </Button>
          </p>
        )}
      </header>
      <div className="content">
        <UncopiedSecret value={setHasSecret}>{children}</UncopiedSecret>
      </div>
    </Modal>
  );
}

interface FormProps<Data, Variables> extends DrawerProps {
  mutation: TypedDocumentNode<Data, Variables>;
  variables: Variables;
  /** Label of the button that sends the mutation. */
  submit: string;
  disabled?: boolean;
  /** Returns what is shown in place of the form after it. */
  result: (data: Succeeded<Data>) => ReactNode;
}

/** A dialog with a form that registers something, and then shows what the service has created. */
export function FormDialog<Data, Variables extends AnyVariables>(props: FormProps<Data, Variables>) {
  const { title, onClose, kind = 'box', mutation, variables, submit, disabled, result, children } = props;
  const action = useAction();
  const [created, setCreated] = useState<Succeeded<Data> | null>(null);
  const send = async () => setCreated((await action.run(mutation, variables)).data);
  return (
    <Drawer title={title} onClose={onClose} kind={kind}>
      {created ? (
        <>
          {result(created)}
          <div className="actions">
            <Button className="primary" onClick={onClose}>
              Done
            </Button>
          </div>
        </>
      ) : (
        <ActionForm action={action} onSubmit={send} submit={submit} disabled={disabled}>
          {children}
        </ActionForm>
      )}
    </Drawer>
  );
}
