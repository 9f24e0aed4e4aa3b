/** What is used of the package, which brings no types. */
declare module 'pg-copy-streams' {
  import type { Readable, Writable } from 'node:stream';
  import type { Submittable } from 'pg';

  /** Rows in the text form of `COPY ... FROM STDIN`. Finished means that the server has taken all of them. */
  export function from(sql: string): Writable & Submittable & { rowCount: number };
  /** Rows of `COPY ... TO STDOUT`. */
  export function to(sql: string): Readable & Submittable & { rowCount: number };
}
