import type { ReactNode } from 'react';
import type { ActionState } from '../graphql/use-action.ts';
import { Problem } from './states.tsx';

interface Props {
  /** The action that the form sends, whose failure it shows. */
  action: ActionState;
  onSubmit: () => void;
  /** Label of the button; absent where the role may not send the form. */
  submit?: string | false;
  /** Whether the button is the main one of what is shown. */
  primary?: boolean;
  disabled?: boolean;
  className?: string;
  children: ReactNode;
}

/** A form that sends an action. */
export const ActionForm = ({ action, onSubmit, submit, primary = true, disabled, className, children }: Props) => (
  <form
    className={className}
    onSubmit={(event) => {
      event.preventDefault();
      onSubmit();
    }}
  >
    {children}
    <Problem error={action.error} />
    {submit && (
      <div className="actions">
        <button type="submit" className={primary ? 'primary' : undefined} disabled={action.running || disabled}>
          {submit}
        </button>
      </div>
    )}
  </form>
);
