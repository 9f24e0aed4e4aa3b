import { type InputHTMLAttributes, useState } from 'react';
import { formatStatus } from './status-badge.tsx';

/** Values, or pairs of a value and its label. */
export type Options<Value extends string = string> = readonly (Value | readonly [value: Value, label: string])[];

interface FieldProps<Value = string> {
  label: string;
  value: Value;
  onChange: (value: Value) => void;
  required?: boolean;
  disabled?: boolean;
}

type InputProps = FieldProps & Omit<InputHTMLAttributes<HTMLInputElement>, keyof FieldProps>;

/** A field of one line, required by default. */
export const TextField = ({ label, onChange, required = true, ...input }: InputProps) => (
  <label className="field">
    {label}
    <input required={required} {...input} onChange={({ target }) => onChange(target.value)} />
  </label>
);

const toLines = (text: string): string[] => text.split(/\s+/).filter((line) => line !== '');

/** A field with one value a line. */
export function LinesField({ label, value, onChange, disabled }: FieldProps<string[]>) {
  const [text, setText] = useState('');
  const change = (next: string) => {
    setText(next);
    onChange(toLines(next));
  };
  // What is typed has empty lines too.
  const shown = toLines(text).join() === value.join() ? text : value.join('\n');
  return (
    <label className="field">
      {label}
      <textarea value={shown} disabled={disabled} onChange={({ target }) => change(target.value)} />
    </label>
  );
}

/** A choice of one value. */
export const SelectField = <Value extends string>({
  label,
  options,
  onChange,
  ...select
}: FieldProps<Value> & { options: Options<Value> }) => (
  <label className="field">
    {label}
    <select {...select} onChange={({ target }) => onChange(target.value as Value)}>
      {options.map((option) => {
        const [value, text] = typeof option === 'string' ? [option, formatStatus(option)] : option;
        return (
          <option key={value} value={value}>
            {text}
          </option>
        );
      })}
    </select>
  </label>
);
