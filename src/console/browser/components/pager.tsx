import { useFilters } from '../shared/filters.ts';
import { formatCount } from '../shared/format.ts';
import { Button } from './button.tsx';
import { Glyph } from './glyph.tsx';

/** Position of a page in its list: by number, or by a cursor alone. */
export type PageMeta = { offset: number; limit: number; totalCount: number } | { nextCursor?: string | null };

interface Props {
  /** Name for screen readers. */
  label: string;
  meta: PageMeta;
  /** Parameter of the URL with the cursor. */
  cursor?: string;
}

/** Buttons for the previous and the next page or, with cursors, for the first and the next; nothing for an empty list or one page. */
export function Pager({ label, meta, cursor = 'after' }: Props) {
  const filters = useFilters();
  if (!('offset' in meta)) {
    const current = filters.get(cursor);
    if (!current && !meta.nextCursor) return null;
    return (
      <nav className="pager" aria-label={label}>
        <Button disabled={!current} onClick={() => filters.set({ [cursor]: null })}>
          First page
        </Button>
        <Button disabled={!meta.nextCursor} onClick={() => filters.set({ [cursor]: meta.nextCursor })}>
          Next page
        </Button>
      </nav>
    );
  }
  const { offset, limit, totalCount } = meta;
  if (offset >= totalCount) return null;
  const page = Math.floor(offset / limit) + 1;
  const show = (next: number) => filters.set({ page: String(next) });
  return (
    <nav className="pager" aria-label={label}>
      <span>
        {formatCount(offset + 1)}–{formatCount(Math.min(offset + limit, totalCount))} of {formatCount(totalCount)}
      </span>
      <span className="actions">
        <Button className="plain" disabled={page <= 1} onClick={() => show(page - 1)}>
          <Glyph name="previous" /> Previous
        </Button>
        <Button className="plain" disabled={offset + limit >= totalCount} onClick={() => show(page + 1)}>
          Next <Glyph name="next" />
        </Button>
      </span>
    </nav>
  );
}
