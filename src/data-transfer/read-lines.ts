/**
 * Maximum bytes of a line. Longer lines are skipped without buffering. The largest photo report fits, although PostgreSQL adds a
 * space after commas and colons, and writes numbers without exponents.
 */
export const MAX_LINE_BYTES = 96 * 1024 * 1024;

const LINE_FEED = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line of a file, without its line feed. */
interface Line {
  /** Counted from 1. */
  number: number;
  /** Valid only until the next lines are read; null for a line that is too long. */
  bytes: Buffer | null;
}

/** Yields the lines that end in each chunk. Buffers at most one line. */
export async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  let number = 0;
  const finish = (last: Buffer): Line => {
    number++;
    const isTooLong = heldBytes + last.length > MAX_LINE_BYTES;
    const bytes = isTooLong ? null : held.length === 0 ? last : Buffer.concat([...held, last]);
    held = [];
    heldBytes = 0;
    const isMarked = number === 1 && bytes?.subarray(0, 3).equals(BYTE_ORDER_MARK);
    return { number, bytes: isMarked ? bytes!.subarray(3) : bytes };
  };
  for await (const chunk of source) {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      lines.push(finish(chunk.subarray(start, end)));
      start = end + 1;
    }
    yield lines;
    if (start === chunk.length) continue;
    heldBytes += chunk.length - start;
    if (heldBytes > MAX_LINE_BYTES) held = [];
    else held.push(chunk.subarray(start));
  }
  // The last line may lack its line feed.
  if (heldBytes > 0) yield [finish(Buffer.alloc(0))];
}

export type Row = Record<string, unknown>;

/** Calls back with the fields of each line; with none for a line that is no JSON object. Lines that are too long are skipped. */
export async function readRows(source: AsyncIterable<Buffer>, onRow: (row: Row) => void): Promise<void> {
  for await (const lines of readLines(source)) for (const { bytes } of lines) if (bytes) onRow(parseRow(bytes));
}

function parseRow(line: Buffer): Row {
  try {
    return JSON.parse(line.toString()) ?? {};
  } catch {
    return {};
  }
}
