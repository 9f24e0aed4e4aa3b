/* Statements and rows as callers know them. `node-internals/pg-pipeline.ts` sends them. */
export type { BoundStatement, Row, Statement, TextRow } from '../../node-internals/pg-pipeline.ts';
