import type { Duplex } from 'node:stream';
import pg from 'pg';

/** SQL with bound parameters that PostgreSQL prepares once per connection, under the name. */
export interface Statement {
  name: string;
  text: string;
}

/** A row as the driver read it: the text of each column, in the order of the statement. */
export type TextRow = (string | null)[];

/** Parts of pg that its type definitions leave out. Its version is pinned, and test/wire.test.ts holds what is used here. */
interface Wire {
  stream: Duplex;
  describe(message: object): void;
}

const Query = pg.Query as unknown as new (
  text: string,
  values: unknown[],
  callback: (error: Error | null) => void,
) => pg.Query & { name: string; prepare(wire: Wire): void };

/**
 * A prepared read. Values stay text: what they mean is known from the entity's columns. So it doesn't ask for the description
 * of the rows, which PostgreSQL would send, and pg parse, with every answer.
 */
class TextQuery extends Query {
  readonly #rows: TextRow[] = [];

  constructor({ name, text }: Statement, values: unknown[], done: (error: Error | null, rows: TextRow[]) => void) {
    super(text, values, (error) => done(error, this.#rows));
    this.name = name;
  }

  override prepare(wire: Wire): void {
    super.prepare(withoutDescribe(wire));
  }

  handleDataRow({ fields }: { fields: TextRow }): void {
    this.#rows.push(fields);
  }

  handleCommandComplete(): void {}
}

const undescribed = new WeakMap<Wire, Wire>();

function withoutDescribe(wire: Wire): Wire {
  let other = undescribed.get(wire);
  if (!other) {
    other = Object.create(wire, { describe: { value: () => undefined } }) as Wire;
    undescribed.set(wire, other);
  }
  return other;
}

/** The rows of a prepared statement. It leaves with all that is sent in this turn of the event loop. */
export function readText(client: pg.Client, statement: Statement, values: unknown[]): Promise<TextRow[]> {
  holdBack(client);
  return new Promise((resolve, reject) => {
    client.query(new TextQuery(statement, values, (error, rows) => (error ? reject(error) : resolve(rows))));
  });
}

const endOfTurn: (() => void)[] = [];

/** Does the work when this turn of the event loop ends, after what was asked for before, and what the work itself asks for. */
export function atEndOfTurn(work: () => void): void {
  if (endOfTurn.push(work) === 1) setImmediate(endTurn);
}

function endTurn(): void {
  try {
    for (const next of endOfTurn) next();
  } finally {
    endOfTurn.length = 0;
  }
}

const heldBack = new WeakSet<Duplex>();

/** Holds back what is written to the connection until the end of this turn, so that it leaves in one packet. */
export function holdBack(client: pg.ClientBase): void {
  const { stream } = (client as unknown as { connection: Wire }).connection;
  if (heldBack.has(stream)) return;
  heldBack.add(stream);
  stream.cork();
  atEndOfTurn(() => {
    heldBack.delete(stream);
    stream.uncork();
  });
}
