import { useFilters } from '../shared/filters.ts';

interface Props {
  /** Parameter of the URL with the cursor. */
  name?: string;
  next: string | null | undefined;
  /** Name for screen readers. */
  label: string;
  /** Texts of the buttons. */
  texts?: readonly [first: string, next: string];
}

const TEXTS = ['First page', 'Next page'] as const;

/** Buttons for the first and the next page of a list with cursors; nothing for a list of one page. */
export function CursorPager({ name = 'after', next, label, texts: [first, later] = TEXTS }: Props) {
  const filters = useFilters();
  const current = filters.get(name);
  if (!current && !next) return null;
  return (
    <nav className="pager" aria-label={label}>
      <button type="button" disabled={!current} onClick={() => filters.set({ [name]: null })}>
        {first}
      </button>
      <button type="button" disabled={!next} onClick={() => filters.set({ [name]: next })}>
        {later}
      </button>
    </nav>
  );
}
