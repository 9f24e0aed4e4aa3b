import type { ReactNode } from 'react';
import { DataTable, type TableProps } from './data-table.tsx';
import { Panel } from './page.tsx';

interface Props<Row> extends TableProps<Row> {
  /** Default: the name of the table. */
  title?: ReactNode;
  /** Filters and actions beside the title. */
  filters: ReactNode;
}

/** A section of a page with a list. */
export const TablePanel = <Row,>({ title, filters, ...table }: Props<Row>) => (
  <Panel title={title ?? table.name} aside={<div className="filters">{filters}</div>}>
    <DataTable {...table} />
  </Panel>
);
