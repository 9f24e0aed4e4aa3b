import type { ReactNode } from 'react';
import type { AnyVariables } from 'urql';
import type { Request } from '../graphql/use-request.ts';
import { useFilters } from '../shared/filters.ts';
import { DataTable, type TableProps } from './data-table.tsx';
import { Drawer } from './drawer.tsx';
import { ExportButton, type ExportedList } from './export-button.tsx';
import { Facts } from './facts.tsx';
import { PageHead } from './page.tsx';
import type { PageMeta } from './pager.tsx';
import { Loaded } from './states.tsx';

interface Props<Data, Variables, Row> extends Omit<TableProps<Row>, 'name' | 'rows' | 'rowKey' | 'meta' | 'foot'> {
  title: string;
  description?: string;
  /** Filters and actions beside the title. */
  filters?: ReactNode;
  /** The file of all rows of the filters. */
  file?: Pick<ExportedList<Data, Variables, Row>, 'fileName' | 'columns'>;
  /** How the rows of the file are read. */
  list?: Pick<ExportedList<Data, Variables, Row>, 'query' | 'variables'>;
  /** Name of the list, where it is not the title. */
  name?: string;
  request: Request<Data>;
  /** Returns the list's page in the data of the request. */
  page: (data: Data) => { data: readonly Row[]; meta: PageMeta & { nextCursor?: string | null } };
  foot?: (rows: readonly Row[]) => ReactNode;
  /** Shows the row that the parameter `opens` names. The page may not have it. Default: its columns, `details` and id. */
  drawer?: (id: string, close: () => void, row: Row | undefined) => ReactNode;
  /** What a row has beside its columns. */
  details?: (row: Row) => readonly (readonly [string, ReactNode])[];
  /** Shown between the title and the list. */
  children?: ReactNode;
}

/** A page with a list, its filters, and the record that is opened. */
export function ListPage<Data, Variables extends AnyVariables, Row extends { id: string }>(
  props: Props<Data, Variables, Row>,
) {
  const { title, description, filters, file, list, name = title, request, page, foot, children, ...rest } = props;
  const { drawer = showDetails, details, ...table } = rest;
  const parameters = useFilters();
  const { opens = '' } = table;
  const opened = parameters.get(opens);
  const find = (data: Data) => page(data).data.find(({ id }) => id === opened);
  function showDetails(_: string, close: () => void, row: Row | undefined) {
    if (!row) return null;
    const [first, ...columns] = table.columns;
    const facts = columns.map(({ header, cell }) => [header, cell(row)] as const);
    return (
      <Drawer title={first!.cell(row)} onClose={close}>
        <Facts facts={[...facts, ...(details?.(row) ?? []), ['Id', <code key="id">{row.id}</code>]]} />
      </Drawer>
    );
  }
  return (
    <>
      <PageHead title={title} description={description}>
        {filters}
        {file && list && <ExportButton {...list} {...file} page={page} />}
      </PageHead>
      {children}
      <section className="panel" aria-label={name}>
        <Loaded request={request} placeholder={<DataTable {...table} name={name} />}>
          {(loaded) => {
            const { data, meta } = page(loaded);
            return <DataTable {...table} name={name} rows={data} meta={meta} foot={foot?.(data)} />;
          }}
        </Loaded>
      </section>
      {opened && drawer?.(opened, () => parameters.set({ [opens]: null }), request.data && find(request.data))}
    </>
  );
}
