import type { ReactNode } from 'react';
import type { RequestError } from '../graphql/errors.ts';
import { Problem } from './problem.tsx';

interface Props {
  /** The action that the form sends, whose failure it shows. */
  action: { running: boolean; error: RequestError | undefined };
  onSubmit: () => void;
  /** Label of the button. */
  submit: string;
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
    <div className="actions">
      <button type="submit" className={primary ? 'primary' : undefined} disabled={action.running || disabled}>
        {submit}
      </button>
    </div>
  </form>
);
