import { useState } from 'react';
import { Button } from './button.tsx';

interface Props {
  /** The action, such as `Disable the client`. */
  label: string;
  /** What the action causes. */
  effect: string;
  disabled?: boolean;
  onConfirm: () => void;
}

/** A button that shows the effect of its action on the first click, and acts on the second. */
export function ConfirmButton({ label, effect, disabled, onConfirm }: Props) {
  const [asked, setAsked] = useState(false);
  const confirm = () => {
    setAsked(false);
    onConfirm();
  };
  if (!asked)
    return (
      <Button className="danger" disabled={disabled} onClick={() => setAsked(true)}>
        {label}…
      </Button>
    );
  return (
    <span className="notice warn actions" role="alert">
      <span>{effect}</span>
      <Button className="danger" disabled={disabled} onClick={confirm}>
        {label}
      </Button>
      <Button onClick={() => setAsked(false)}>Cancel</Button>
    </span>
  );
}
