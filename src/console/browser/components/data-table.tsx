import type { KeyboardEvent, ReactNode } from 'react';
import { useFilters } from '../shared/filters.ts';
import { Button } from './button.tsx';
import { type PageMeta, Pager } from './pager.tsx';
import { Empty } from './states.tsx';

export interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned to the right. */
  number?: boolean;
  /** Short texts stay on one line. */
  nowrap?: boolean;
}

export interface TableProps<Row> {
  /** Name of the table for screen readers. */
  name: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  /** Default: the property `id`. */
  rowKey?: (row: Row) => string;
  /** Title of the message in place of a table without rows, and what can be done. */
  empty?: string;
  hint?: string;
  /** Parameter of the URL that opens a row by its key. The first cell is its button; the arrow keys move between rows. */
  opens?: string;
  foot?: ReactNode;
  /** Position of the rows in their list. */
  meta?: PageMeta;
  /** Parameter of the URL with the cursor of the list. */
  cursor?: string;
  /** Texts of the buttons of a list with cursors. */
  pagerTexts?: readonly [first: string, next: string];
  /** Whether phones show rows as cards. */
  cards?: boolean;
}

/** A table with the buttons of its pages. */
export function DataTable<Row>({
  name,
  columns,
  rows,
  rowKey = (row) => (row as { id: string }).id,
  empty,
  hint,
  opens,
  foot,
  meta,
  cursor,
  pagerTexts,
  cards = true,
}: TableProps<Row>) {
  const filters = useFilters();
  const selected = opens && filters.get(opens);
  const pager = meta && (
    <Pager label={`Pages of ${name.toLowerCase()}`} meta={meta} cursor={cursor} texts={pagerTexts} />
  );
  if (empty && rows.length === 0)
    return (
      <>
        <Empty title={empty}>{hint}</Empty>
        {pager}
      </>
    );
  return (
    <>
      <div className="table-scroll">
        <table className={cards ? 'data cards' : 'data'} onKeyDown={opens ? moveFocus : undefined}>
          <caption className="visually-hidden">{name}</caption>
          <thead>
            <tr>
              {columns.map(({ header, number }) => (
                <th key={header} scope="col" className={number ? 'number' : undefined}>
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const key = rowKey(row);
              return (
                <tr key={key} data-selected={key === selected}>
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
          {foot}
        </table>
      </div>
      {pager}
    </>
  );
}

/** Moves the focus between rows. */
function moveFocus(event: KeyboardEvent<HTMLTableElement>): void {
  const openers = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const index = openers.indexOf(event.target as HTMLElement);
  const last = openers.length - 1;
  const targets: Record<string, number> = { ArrowDown: index + 1, ArrowUp: index - 1, Home: 0, End: last };
  const target = targets[event.key];
  if (target === undefined || index < 0) return;
  event.preventDefault();
  openers[Math.min(Math.max(target, 0), last)]!.focus();
}
