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
  /** Returns the file as a stream, which reads a page when the one before is written. */
  const streamRows = ({ query, variables, page, columns }: ExportedList<Data, Variables, Row>) => {
    const encoder = new TextEncoder();
    let cursor: string | null | undefined = '';
    let count = 0;
    return new ReadableStream<Uint8Array>({
      start(controller) {
        // Excel reads the text as UTF-8 only with a byte order mark.
        controller.enqueue(encoder.encode(`\uFEFF${formatCsvRow(columns.map(([header]) => header))}`));
      },
      async pull(controller) {
        if (cursor === null || cursor === undefined || cancelled.current) return controller.close();
        const { data, meta } = page(await readExportPage(client, query, { ...variables, cursor }));
        cursor = meta.nextCursor;
        count += data.length;
        setWritten(count);
        const rows = data.map((row) => formatCsvRow(columns.map(([, value]) => value(row))));
        controller.enqueue(encoder.encode(rows.join('')));
      },
    });
  };
  const start = async () => {
    cancelled.current = false;
    setFailed(false);
    setWritten(0);
    try {
      const blob = await new Response(streamRows(props)).blob();
      if (!cancelled.current) save(blob, props.fileName);
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
