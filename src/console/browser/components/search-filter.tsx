import { useEffect, useState } from 'react';
import { useFilters } from '../shared/filters.ts';

/** Milliseconds without a keystroke after which a search is sent. */
const PAUSE_MS = 300;

/** A text to search for, kept in the URL. Typing without a pause is one step of the back button. */
export function SearchFilter({ name, label }: { name: string; label: string }) {
  const filters = useFilters();
  const current = filters.get(name) ?? '';
  const [text, setText] = useState(current);
  useEffect(() => setText(current), [current]);
  // After each render, so that a filter that was changed in the meantime is kept.
  useEffect(() => {
    if (text === current) return;
    const timer = setTimeout(() => filters.set({ [name]: text }, { replace: current !== '' }), PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return (
    <label className="field">
      {label}
      <input type="search" placeholder="Search" value={text} onChange={({ target }) => setText(target.value)} />
    </label>
  );
}
