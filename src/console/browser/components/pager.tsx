import { useFilters } from '../shared/filters.ts';
import { formatCount } from '../shared/format.ts';
import { Glyph } from './glyph.tsx';

/** Returns how many rows of a list are before the page in the URL. */
export const usePageOffset = (pageSize = 25): number => (Number(useFilters().get('page') ?? 1) - 1) * pageSize;

interface Props {
  offset: number;
  limit: number;
  totalCount: number;
}

/** Buttons for the pages of a list; nothing for an empty page. Pages are numbered from 1. */
export function Pager({ offset, limit, totalCount }: Props) {
  const filters = useFilters();
  if (offset >= totalCount) return null;
  const page = Math.floor(offset / limit) + 1;
  const last = Math.ceil(totalCount / limit);
  const show = (next: number) => filters.set({ page: String(next) });
  return (
    <nav className="pager" aria-label="Pages">
      <span>
        {formatCount(offset + 1)}–{formatCount(Math.min(offset + limit, totalCount))} of {formatCount(totalCount)}
      </span>
      <span className="actions">
        <button type="button" className="plain" disabled={page <= 1} onClick={() => show(page - 1)}>
          <Glyph name="previous" /> Previous
        </button>
        <button type="button" className="plain" disabled={page >= last} onClick={() => show(page + 1)}>
          Next <Glyph name="next" />
        </button>
      </span>
    </nav>
  );
}
