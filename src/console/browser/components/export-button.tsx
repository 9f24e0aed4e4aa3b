import { useEffect, useRef, useState } from 'react';
import type { AnyVariables, TypedDocumentNode } from 'urql';
import { useUncachedClient } from '../graphql/client.ts';
import { readExportPage } from '../graphql/read-export-page.ts';
import { formatCsvRow } from '../shared/csv.ts';
import { formatCount } from '../shared/format.ts';
import { Button } from './button.tsx';
import { Glyph } from './glyph.tsx';

export interface ExportedList<Data, Variables, Row> {
  fileName: string;
  query: TypedDocumentNode<Data, Variables & { cursor?: string | null }>;
  variables: Variables;
  /** Returns the list's page in the data of the query. */
  page: (data: Data) => { data: readonly Row[]; meta: { nextCursor?: string | null } };
  columns: readonly (readonly [header: string, value: (row: Row) => string | number | null | undefined])[];
}

/** Writes all rows of the filters to a CSV file, page by page. */
export function ExportButton<Data, Variables extends AnyVariables, Row>(props: ExportedList<Data, Variables, Row>) {
  const client = useUncachedClient();
  const [written, setWritten] = useState<number | null>(null);
  const [failed, setFailed] = useState(false);
  const cancelled = useRef(false);
  // An export ends with the page.
  useEffect(
    () => () => {
      cancelled.current = true;
    },
    [],
  );
  const start = async () => {
    const { fileName, query, variables, page, columns } = props;
    cancelled.current = false;
    setFailed(false);
    setWritten(0);
    try {
      // Excel reads the text as UTF-8 only with a byte order mark.
      const rows = [`\uFEFF${formatCsvRow(columns.map(([header]) => header))}`];
      let cursor: string | null | undefined = '';
      while (typeof cursor === 'string' && !cancelled.current) {
        const { data, meta } = page(await readExportPage(client, query, { ...variables, cursor }));
        cursor = meta.nextCursor;
        rows.push(...data.map((row) => formatCsvRow(columns.map(([, value]) => value(row)))));
        setWritten(rows.length - 1);
      }
      if (!cancelled.current) save(new Blob(rows), fileName);
    } catch {
      setFailed(true);
    }
    setWritten(null);
  };
  if (written !== null)
    return (
      <Button
        onClick={() => {
          cancelled.current = true;
        }}
      >
        Cancel the export ({formatCount(written)} rows)
      </Button>
    );
  return (
    <>
      {failed && <span role="alert">The export failed.</span>}
      <Button onClick={start}>
        <Glyph name="download" /> Export CSV
      </Button>
    </>
  );
}

function save(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
