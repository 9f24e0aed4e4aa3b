import { useFilters } from '../shared/filters.ts';
import { formatCount } from '../shared/format.ts';
import { Button } from './button.tsx';
import { Glyph } from './glyph.tsx';

interface NumberedPage {
  offset: number;
  limit: number;
  totalCount: number;
}

interface CursorPage {
  nextCursor?: string | null;
}

/** Position of a page in its list: by number, or by a cursor alone. */
export type PageMeta = NumberedPage | CursorPage;

interface Props {
  /** Name for screen readers. */
  label: string;
  meta: PageMeta;
  /** Parameter of the URL with the cursor. */
  cursor?: string;
  /** Texts of the buttons of a list with cursors. */
  texts?: readonly [first: string, next: string];
}

/** Buttons for the pages of a list. */
export const Pager = ({ label, meta, ...props }: Props) =>
  'offset' in meta ? (
    <NumberedPager label={label} {...meta} />
  ) : (
    <CursorPager label={label} next={meta.nextCursor} {...props} />
  );

/** Buttons for the previous and the next page; nothing for an empty page. Pages are numbered from 1. */
export function NumberedPager({ label, offset, limit, totalCount }: NumberedPage & { label: string }) {
  const filters = useFilters();
  if (offset >= totalCount) return null;
  const page = Math.floor(offset / limit) + 1;
  const last = Math.ceil(totalCount / limit);
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
        <Button className="plain" disabled={page >= last} onClick={() => show(page + 1)}>
          Next <Glyph name="next" />
        </Button>
      </span>
    </nav>
  );
}

interface CursorProps extends Omit<Props, 'meta'> {
  next: string | null | undefined;
}

/** Buttons for the first and the next page; nothing for a list of one page. */
function CursorPager({ label, next, cursor = 'after', texts = ['First page', 'Next page'] }: CursorProps) {
  const filters = useFilters();
  const current = filters.get(cursor);
  if (!current && !next) return null;
  return (
    <nav className="pager" aria-label={label}>
      <Button disabled={!current} onClick={() => filters.set({ [cursor]: null })}>
        {texts[0]}
      </Button>
      <Button disabled={!next} onClick={() => filters.set({ [cursor]: next })}>
        {texts[1]}
      </Button>
    </nav>
  );
}
