import { useEffect, useState } from 'react';
import { useFilters } from '../shared/filters.ts';

/** Milliseconds without a keystroke after which a search is sent. */
const PAUSE_MS = 300;

interface Props {
  /** Parameter of the URL. */
  name: string;
  label: string;
  /** Parameter of the list's position, where it is not one of the usual ones. */
  position?: string;
}

/** A text to search for, kept in the URL. Typing without a pause is one step of the back button. */
export function SearchFilter({ name, label, position }: Props) {
  const filters = useFilters();
  const current = filters.get(name) ?? '';
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  // After each render, so that a filter that was changed in the meantime is kept.
  useEffect(() => {
    if (text === current) return;
    const changes = { [name]: text, ...(position && { [position]: null }) };
    const timer = setTimeout(() => filters.set(changes, { replace: current !== '' }), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <label className="field">
      {label}
      <input type="search" placeholder="Search" value={text} onChange={({ target }) => setText(target.value)} />
    </label>
  );
}
