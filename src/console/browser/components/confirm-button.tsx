import { useState } from 'react';

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
  if (!asked)
    return (
      <button type="button" className="danger" disabled={disabled} onClick={() => setAsked(true)}>
        {label}…
      </button>
    );
  return (
    <span className="notice warn actions" role="alert">
      <span>{effect}</span>
      <button
        type="button"
        className="danger"
        disabled={disabled}
        onClick={() => {
          setAsked(false);
          onConfirm();
        }}
      >
        {label}
      </button>
      <button type="button" onClick={() => setAsked(false)}>
        Cancel
      </button>
    </span>
  );
}
