import { useEffect, useRef, useState } from 'react';
import { formatCsvRow } from '../shared/csv.ts';
import { formatCount } from '../shared/format.ts';
import { Glyph } from './glyph.tsx';

type Row = readonly (string | number | null | undefined)[];

interface ExportPage {
  rows: readonly Row[];
  /** Null after the last page. */
  nextCursor: string | null | undefined;
}

interface Props {
  fileName: string;
  header: readonly string[];
  /** Reads the page that begins at a cursor, which is empty for the first one. */
  readPage: (cursor: string) => Promise<ExportPage>;
}

/** Writes all rows of the filters to a CSV file, page by page. */
export function ExportButton({ fileName, header, readPage }: Props) {
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
    cancelled.current = false;
    setFailed(false);
    setWritten(0);
    try {
      const blob = await new Response(streamRows(header, readPage, cancelled, setWritten)).blob();
      if (!cancelled.current) save(blob, fileName);
    } catch {
      setFailed(true);
    }
    setWritten(null);
  };
  if (written !== null)
    return (
      <button type="button" onClick={() => (cancelled.current = true)}>
        Cancel the export ({formatCount(written)} rows)
      </button>
    );
  return (
    <>
      {failed && <span role="alert">The export failed.</span>}
      <button type="button" onClick={start}>
        <Glyph name="download" /> Export CSV
      </button>
    </>
  );
}

/** Returns the file as a stream, which reads a page when the one before is written. */
function streamRows(
  header: readonly string[],
  readPage: Props['readPage'],
  cancelled: { current: boolean },
  onWritten: (rows: number) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let cursor: string | null | undefined = '';
  let written = 0;
  return new ReadableStream({
    start(controller) {
      // Excel reads the text as UTF-8 only with a byte order mark.
      controller.enqueue(encoder.encode(`\uFEFF${formatCsvRow(header)}`));
    },
    async pull(controller) {
      if (cursor === null || cursor === undefined || cancelled.current) return controller.close();
      const { rows, nextCursor } = await readPage(cursor);
      cursor = nextCursor;
      written += rows.length;
      onWritten(written);
      controller.enqueue(encoder.encode(rows.map(formatCsvRow).join('')));
    },
  });
}

function save(blob: Blob, fileName: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
