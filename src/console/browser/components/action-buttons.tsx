import type { ActionState } from '../graphql/use-action.ts';
import { Button } from './button.tsx';
import { ConfirmButton } from './confirm-button.tsx';
import { Problem } from './states.tsx';

interface Props {
  action: ActionState;
  /** What each button does; false where it is not offered. One with an effect shows it on the first click, and acts on the second. */
  buttons: readonly (false | readonly [label: string, run: () => void, effect?: string])[];
  disabled?: boolean;
}

/** Buttons that send an action, and why the last one failed. */
export function ActionButtons({ action: { running, error }, buttons, disabled = running }: Props) {
  const offered = buttons.filter((button) => button !== false);
  if (offered.length === 0) return null;
  return (
    <>
      <Problem error={error} />
      <div className="actions">
        {offered.map(([label, run, effect]) =>
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
}
