import type { Statement } from '../../node-internals/pg-pipeline.ts';

/* Statements and rows as callers know them. `node-internals/pg-pipeline.ts` sends them. */
export type { BoundStatement, Row, Statement, TextRow } from '../../node-internals/pg-pipeline.ts';

/** Returns the tag of a statement's SQL, as one line, in which `--` would begin a comment to its end: statement('events.head')`select …`. */
export const statement =
  (name: string) =>
  (parts: TemplateStringsArray, ...values: (string | number)[]): Statement => ({
    name,
    text: String.raw({ raw: parts }, ...values).replace(/\s+/g, ' '),
  });
