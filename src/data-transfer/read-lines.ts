/**
 * Maximum bytes of a line. Longer lines are skipped without buffering. The largest photo report fits, although PostgreSQL adds a
 * space after commas and colons, and writes numbers without exponents.
 */
export const MAX_LINE_BYTES = 96 * 1024 * 1024;

const LINE_FEED = 10;
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf]);

export interface LineHandler {
  /** The bytes are valid only during the call. `number` starts at 1. */
  line(bytes: Buffer, number: number): void;
  onOverlongLine(number: number): void;
}

/** Splits a stream of bytes into lines. Buffers at most one line. */
export class LineSplitter {
  readonly #handler: LineHandler;
  #buffered: Buffer[] = [];
  #bufferedBytes = 0;
  #number = 0;

  constructor(handler: LineHandler) {
    this.#handler = handler;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#finish(chunk.subarray(start, end));
      start = end + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  /** The last line may lack its line feed. */
  end(): void {
    if (this.#bufferedBytes > 0) this.#finish(Buffer.alloc(0));
  }

  #hold(part: Buffer): void {
    this.#bufferedBytes += part.length;
    if (this.#bufferedBytes > MAX_LINE_BYTES) this.#buffered = [];
    else this.#buffered.push(part);
  }

  #finish(last: Buffer): void {
    const bytes = this.#bufferedBytes + last.length;
    const bufferedParts = this.#buffered;
    this.#buffered = [];
    this.#bufferedBytes = 0;
    this.#number++;
    if (bytes > MAX_LINE_BYTES) {
      this.#handler.onOverlongLine(this.#number);
      return;
    }
    const line = bufferedParts.length === 0 ? last : Buffer.concat([...bufferedParts, last]);
    const marked = this.#number === 1 && line.subarray(0, 3).equals(BYTE_ORDER_MARK);
    this.#handler.line(marked ? line.subarray(3) : line, this.#number);
  }
}
