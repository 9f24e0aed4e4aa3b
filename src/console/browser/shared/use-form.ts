import { useState } from 'react';

export interface Form<Values> {
  values: Values;
  /** Values that the person has set, also to the stored value, since the form was opened or reset. */
  edits: Partial<Values>;
  isEdited: boolean;
  /** Returns the properties of the field of a value. */
  bind<Name extends keyof Values>(name: Name): { value: Values[Name]; onChange: (value: Values[Name]) => void };
  reset(): void;
}

/** Returns the values of a form. Those that are not edited show the stored ones, which another person may change meanwhile. */
export function useForm<Values extends object>(stored: Values): Form<Values> {
  const [edits, setEdits] = useState<Partial<Values>>({});
  const values = { ...stored, ...edits };
  return {
    values,
    edits,
    isEdited: Object.keys(edits).length > 0,
    bind: (name) => ({
      value: values[name],
      onChange: (value) => setEdits((current) => ({ ...current, [name]: value })),
    }),
    reset: () => setEdits({}),
  };
}
