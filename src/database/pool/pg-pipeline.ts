import type { Duplex } from 'node:stream';
import pg from 'pg';
import { countReceivedBytes } from '../../shared/buffer-collection.ts';

/** SQL with bound parameters that PostgreSQL prepares once per connection, under the name. */
export interface Statement {
  name: string;
  text: string;
}

/** A row in PostgreSQL's text format: the text of each column, in the statement's order. */
export type TextRow = (string | null)[];

/** Parts of pg's connection that its type definitions omit. pg's version is pinned; test/database/pg-pipeline.test.ts covers their use here. */
interface PgConnection {
  stream: Duplex;
  describe(message: object): void;
}

const Query = pg.Query as unknown as new (
  text: string,
  values: unknown[],
  callback: (error: Error | null) => void,
) => pg.Query & { name: string; prepare(connection: PgConnection): void };

/**
 * A prepared read whose values stay text. It skips the Describe message: the entity's columns determine the types, and PostgreSQL
 * would otherwise send, and pg parse, a row description with every result.
 */
class TextQuery extends Query {
  readonly #rows: TextRow[] = [];

  constructor({ name, text }: Statement, values: unknown[], done: (error: Error | null, rows: TextRow[]) => void) {
    super(text, values, (error) => done(error, this.#rows));
    this.name = name;
  }

  override prepare(connection: PgConnection): void {
    super.prepare(withoutDescribe(connection));
  }

  handleDataRow({ fields }: { fields: TextRow }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {}
}

const connectionsWithoutDescribe = new WeakMap<PgConnection, PgConnection>();

function withoutDescribe(connection: PgConnection): PgConnection {
  let wrapper = connectionsWithoutDescribe.get(connection);
  if (!wrapper) {
    wrapper = Object.create(connection, { describe: { value: () => undefined } }) as PgConnection;
    connectionsWithoutDescribe.set(connection, wrapper);
  }
  return wrapper;
}

/** Returns the rows of a prepared statement, which is sent in one packet with the other statements of this tick. */
export function queryTextRows(client: pg.Client, statement: Statement, values: unknown[]): Promise<TextRow[]> {
  corkUntilEndOfTick(client);
  return new Promise((resolve, reject) => {
    client.query(new TextQuery(statement, values, (error, rows) => (error ? reject(error) : resolve(rows))));
  });
}

const tickTasks: (() => void)[] = [];

/** Runs the task when this tick of the event loop ends: after earlier tasks, before tasks that it adds itself. */
export function runAtEndOfTick(task: () => void): void {
  if (tickTasks.push(task) === 1) setImmediate(runTickTasks);
}

function runTickTasks(): void {
  try {
    for (const task of tickTasks) task();
  } finally {
    tickTasks.length = 0;
  }
}

const corkedStreams = new WeakSet<Duplex>();

/** Corks the client's socket until the end of this tick, so that everything written until then leaves in one packet. */
export function corkUntilEndOfTick(client: pg.ClientBase): void {
  const stream = getStream(client);
  if (corkedStreams.has(stream)) return;
  corkedStreams.add(stream);
  stream.cork();
  runAtEndOfTick(() => {
    corkedStreams.delete(stream);
    stream.uncork();
  });
}

/** Starts collections of the buffers that a large row leaves while it is received. */
export function countReceivedRows(client: pg.Client): void {
  getStream(client).on('data', (chunk: Buffer) => countReceivedBytes(chunk.length));
}

const getStream = (client: pg.ClientBase) => (client as unknown as { connection: PgConnection }).connection.stream;
