import type { KeyboardEvent, ReactNode } from 'react';

interface Column<Row> {
  header: string;
  cell: (row: Row) => ReactNode;
  /** Numbers are aligned to the right. */
  number?: boolean;
  /** Short texts stay on one line. */
  nowrap?: boolean;
}

interface Props<Row> {
  /** Name of the table for screen readers. */
  caption: string;
  /** Shown in place of a table without rows. */
  empty?: ReactNode;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Makes the first cell a button that opens the row; the arrow keys move between rows. */
  onOpen?: (row: Row) => void;
  selected?: string | null;
  foot?: ReactNode;
}

/** A table, which phones show as cards. */
export function DataTable<Row>({ caption, empty, columns, rows, rowKey, onOpen, selected, foot }: Props<Row>) {
  if (empty && rows.length === 0) return empty;
  return (
    <div className="table-scroll">
      <table className="data cards" onKeyDown={onOpen && moveFocus}>
        <caption className="visually-hidden">{caption}</caption>
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
                    {index === 0 && onOpen ? (
                      <button type="button" className="link" data-row onClick={() => onOpen(row)}>
                        {cell(row)}
                      </button>
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
  );
}

/** Steps of keys between rows. */
const STEPS: Record<string, (index: number, last: number) => number> = {
  ArrowDown: (index, last) => Math.min(index + 1, last),
  ArrowUp: (index) => Math.max(index - 1, 0),
  Home: () => 0,
  End: (_, last) => last,
};

function moveFocus(event: KeyboardEvent<HTMLTableElement>): void {
  const step = STEPS[event.key];
  const openers = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const index = openers.indexOf(event.target as HTMLElement);
  if (!step || index < 0) return;
  event.preventDefault();
  openers[step(index, openers.length - 1)]!.focus();
}
