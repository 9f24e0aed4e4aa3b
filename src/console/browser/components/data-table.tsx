import type { CSSProperties, KeyboardEvent, MouseEvent, ReactNode } from 'react';
import { type Order, useFilters } from '../shared/filters.ts';
import { Button } from './button.tsx';
import { Glyph } from './glyph.tsx';
import { type PageMeta, Pager } from './pager.tsx';
import { Empty, Loading } from './states.tsx';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned to the right. */
  number?: boolean;
  /** Short texts stay on one line. */
  nowrap?: boolean;
  /** Value of the parameter `sort` that orders the list by the column. */
  sort?: string;
}

export interface TableProps<Row> {
  /** Name of the table for screen readers. */
  name: string;
  columns: readonly Column<Row>[];
  /** Absent while they are loaded. */
  rows?: readonly Row[];
  /** Order of the rows. */
  order?: Order;
  /** Default: the property `id`. */
  rowKey?: (row: Row) => string;
  /** Title of the message in place of a table without rows, and what can be done. */
  empty?: string;
  hint?: string;
  /** Parameter of the URL that opens a row by its key. The first cell is its button. */
  opens?: string;
  foot?: ReactNode;
  /** Position of the rows in their list. */
  meta?: PageMeta;
  /** Parameter of the URL with the cursor of the list. */
  cursor?: string;
  /** Whether phones show rows as cards. */
  cards?: boolean;
}

/** What opens the row of a table: its button, or the link in its first cell. */
const OPENER = '[data-row], td:first-child a';

/**
 * A table with the buttons of its pages. A click on a row is one on the button or link in its first cell; the arrow keys move between those.
 */
export function DataTable<Row>({
  name,
  columns,
  rows,
  rowKey = (row) => (row as { id: string }).id,
  order,
  empty,
  hint,
  opens,
  foot,
  meta,
  cursor,
  cards = true,
}: TableProps<Row>) {
  const filters = useFilters();
  const selected = opens && filters.get(opens);
  const pager = meta && <Pager label={`Pages of ${name.toLowerCase()}`} meta={meta} cursor={cursor} />;
  if (empty && rows?.length === 0)
    return (
      <>
        <Empty title={empty}>{hint}</Empty>
        {pager}
      </>
    );
  return (
    <>
      <div className="table-scroll" aria-hidden={!rows}>
        <table
          className={cards ? 'data cards' : 'data'}
          style={{ '--columns': columns.length } as CSSProperties}
          onKeyDown={moveFocus}
        >
          <caption className="visually-hidden">{name}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <Header key={column.header} {...column} order={rows && order} />
              ))}
            </tr>
          </thead>
          <tbody>
            {rows?.map((row) => {
              const key = rowKey(row);
              return (
                <tr key={key} data-selected={key === selected} onClick={openRow}>
                  {columns.map(({ header, cell, number, nowrap }, index) => (
                    <td key={header} data-label={header} className={number ? 'number' : nowrap ? 'nowrap' : undefined}>
                      {index === 0 && opens ? (
                        <Button className="link" data-row onClick={() => filters.set({ [opens]: key })}>
                          {cell(row)}
                        </Button>
                      ) : (
                        cell(row)
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
          {rows && foot}
        </table>
      </div>
      {!rows && <Loading />}
      {pager}
    </>
  );
}

const DIRECTIONS = { asc: 'ascending', desc: 'descending' } as const;

/** The header of a column; a button that orders the list by it, where the list has that order. */
function Header({ header, number, sort, order }: Column<never> & { order: Order | undefined }) {
  const filters = useFilters();
  const direction = order && order.sort === sort ? DIRECTIONS[order.order] : undefined;
  const change = () => filters.set({ sort, order: direction === 'ascending' ? 'desc' : 'asc' });
  return (
    <th scope="col" className={number ? 'number' : undefined} aria-sort={direction}>
      {sort && order ? (
        <Button className="sort" onClick={change}>
          {header}
          <Glyph name={direction ?? 'sort'} />
        </Button>
      ) : (
        header
      )}
    </th>
  );
}

/** Opens the row that was clicked, except by a click on a link or field in it, and one that selects text. */
function openRow({ target, currentTarget }: MouseEvent<HTMLTableRowElement>): void {
  if ((target as Element).closest('a, button, input, label') || getSelection()?.toString()) return;
  currentTarget.querySelector<HTMLElement>(OPENER)?.click();
}

/** Moves the focus between rows. */
function moveFocus(event: KeyboardEvent<HTMLTableElement>): void {
  const openers = [...event.currentTarget.querySelectorAll<HTMLElement>(OPENER)];
  const index = openers.indexOf(event.target as HTMLElement);
  const last = openers.length - 1;
  const targets: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last };
  const target = targets[event.key];
  if (target === undefined || index < 0) return;
  event.preventDefault();
  openers[Math.min(Math.max(target, 0), last)]!.focus();
}
