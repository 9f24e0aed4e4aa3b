import { type ReactNode, useState } from 'react';
import { ActionForm } from '../../components/action-form.tsx';
import { TextField } from '../../components/fields.tsx';
import type { ActionState } from '../../graphql/use-action.ts';

interface Props<Value> {
  action: ActionState;
  choices: readonly (readonly [value: Value, label: string, detail: string])[];
  submit: string;
  onDecide: (value: Value, reason: string) => void;
  /** Returns further fields of a choice. */
  children?: (value: Value) => ReactNode;
}

/** A form with a decision and its reason, which phones keep in view. */
export function DecisionForm<Value extends string>({ action, choices, submit, onDecide, children }: Props<Value>) {
  const [chosen, setChosen] = useState(choices[0]![0]);
  const [reason, setReason] = useState('');
  return (
    <ActionForm className="side decision" action={action} onSubmit={() => onDecide(chosen, reason)} submit={submit}>
      <fieldset>
        <legend>Decision</legend>
        {choices.map(([value, label, detail]) => (
          <label key={value} className="check">
            <input type="radio" name="decision" checked={chosen === value} onChange={() => setChosen(value)} />
            <span>
              <strong>{label}</strong>
              <span className="soft"> {detail}</span>
            </span>
          </label>
        ))}
      </fieldset>
      {children?.(chosen)}
      <TextField label="Reason" maxLength={500} value={reason} onChange={setReason} />
    </ActionForm>
  );
}
