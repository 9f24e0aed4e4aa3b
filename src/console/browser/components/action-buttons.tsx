import type { ActionState } from '../graphql/use-action.ts';
import { Button } from './button.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Problem } from './states.tsx';

interface Props {
  action: ActionState;
  /** What each button does. One with an effect shows it on the first click, and acts on the second. */
  buttons: readonly (readonly [label: string, run: () => void, effect?: string])[];
  disabled?: boolean;
}

/** Buttons that send an action, and why the last one failed. */
export const ActionButtons = ({ action: { running, error }, buttons, disabled = running }: Props) => (
  <>
    <Problem error={error} />
    <div className="actions">
      {buttons.map(([label, run, effect]) =>
        effect ? (
          <ConfirmButton key={label} label={label} effect={effect} disabled={disabled} onConfirm={run} />
        ) : (
          <Button key={label} disabled={disabled} onClick={run}>
            {label}
          </Button>
        ),
      )}
    </div>
  </>
);
