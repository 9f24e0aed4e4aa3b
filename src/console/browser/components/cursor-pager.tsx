import { useFilters } from '../shared/filters.ts';

interface Props {
  /** Parameter of the URL with the cursor. */
  name?: string;
  next: string | null | undefined;
  /** Name for screen readers. */
  label: string;
}

/** Buttons for the first and the next page of a list with cursors; nothing for a list of one page. */
export function CursorPager({ name = 'after', next, label }: Props) {
  const filters = useFilters();
  const current = filters.get(name);
  if (!current && !next) return null;
  return (
    <nav className="pager" aria-label={label}>
      <button type="button" disabled={!current} onClick={() => filters.set({ [name]: null })}>
        First page
      </button>
      <button type="button" disabled={!next} onClick={() => filters.set({ [name]: next })}>
        Next page
      </button>
    </nav>
  );
}
