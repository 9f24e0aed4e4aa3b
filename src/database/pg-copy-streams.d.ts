/** Types of the functions that are used; the package has none. */
declare module 'pg-copy-streams' {
  import type { Readable, Writable } from 'node:stream';
  import type { Submittable } from 'pg';

  /** Returns a stream for the text format of `COPY ... FROM STDIN`. `finish` means that the server has stored all rows. */
  export function from(sql: string): Writable & Submittable & { rowCount: number };
  /** Returns the rows of `COPY ... TO STDOUT`. */
  export function to(sql: string): Readable & Submittable & { rowCount: number };
}
