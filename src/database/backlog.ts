/** Work that waits in a table until a job does it. Its depth and age are metrics. */
export interface Backlog {
  /** Value of the label `backlog`. */
  name: string;
  /** Returns one row: the number of items, and the age of the oldest in seconds or null. It must be quick: each scrape runs it. */
  statement: { name: string; text: string };
}
