import { Duplex } from 'node:stream';
import pg from 'pg';

/** SQL with bound parameters that PostgreSQL prepares once per connection, under the name. */
export interface Statement {
  name: string;
  text: string;
}

/** A prepared statement with the values of its parameters. */
export type BoundStatement = readonly [statement: Statement, values: readonly unknown[]];

/** A row by column name, with values as the driver parses them. */
export type Row = Record<string, unknown>;

/** A row in PostgreSQL's text format: the text of each column, in the statement's order. */
export type TextRow = (string | null)[];

/** Parts of pg's connection that its type definitions omit. */
interface PgConnection {
  stream: Duplex;
  parsedStatements: Record<string, string | undefined>;
  submittedNamedStatements: Record<string, string | undefined>;
  describe(message: object): void;
  sync(): void;
}

interface PgQuery extends pg.Query {
  name: string;
  queryMode: string;
  hasBeenParsed(connection: PgConnection): boolean;
  prepare(connection: PgConnection): void;
  handleRowDescription(message: object): void;
  handleDataRow(message: object): void;
  handleCommandComplete(message: object, connection: PgConnection): void;
  handleReadyForQuery(connection: PgConnection): void;
}

const Query = pg.Query as unknown as new (
  text: string,
  values: readonly unknown[],
  callback: (error: Error | null, result: { rows: Row[] }) => void,
) => PgQuery;

/**
 * Makes a connection send no Describe message, for one that runs `queryTextRows` alone: the entity's columns determine the types, and PostgreSQL
 * would otherwise send, and pg parse, a row description with every result.
 */
export function omitDescribe(client: pg.ClientBase): void {
  getConnection(client).describe = skip;
}

const skip = () => undefined;

const getConnection = (client: pg.ClientBase) => (client as unknown as { connection: PgConnection }).connection;

/** A prepared read whose values stay text. */
class TextQuery extends Query {
  #rows: TextRow[] = [];
  #done: ((error: Error | null, rows: TextRow[]) => void) | null;

  constructor(
    { name, text }: Statement,
    values: readonly unknown[],
    done: (error: Error | null, rows: TextRow[]) => void,
  ) {
    super(text, values, (error) => this.#finish(error));
    this.name = name;
    this.#done = done;
  }

  /**
   * pg wraps the callback of a query in a function that V8 allocates in the old space, as every function that is assigned to a property. Until
   * the next major collection it keeps all that the callback can reach: with the rows, minor collections took ten times as long.
   */
  #finish(error: Error | null): void {
    const [done, rows] = [this.#done, this.#rows];
    this.#done = null;
    this.#rows = [];
    done?.(error, rows);
  }

  override handleDataRow({ fields }: { fields: TextRow }): void {
    this.#rows.push(fields);
  }

  override handleCommandComplete(): void {}
}

/** Returns the rows of a prepared statement, which is sent in one packet with the other statements of this tick. */
export function queryTextRows(client: pg.Client, statement: Statement, values: readonly unknown[]): Promise<TextRow[]> {
  corkUntilEndOfTick(client);
  return new Promise((resolve, reject) => {
    client.query(new TextQuery(statement, values, (error, rows) => (error ? reject(error) : resolve(rows))));
  });
}

/** A statement of a group, with the callbacks of its promise. */
export interface GroupMember {
  bound: BoundStatement;
  resolve(rows: Row[]): void;
  reject(error: unknown): void;
}

/**
 * Prepared statements with one Sync message after the last. PostgreSQL executes them in order until one fails, answers them together, and
 * commits at the Sync unless a transaction block is open. Each Sync costs a system call and a wake-up on either side.
 */
class StatementGroup extends Query {
  #queries: PgQuery[];
  #members: readonly GroupMember[];
  #done: ((error: Error | null) => void) | null;
  /** Index of the statement whose response is being received. */
  #current = 0;
  /** The first error of the driver itself: a value that cannot be sent, or cannot be parsed. */
  #failure: Error | null = null;
  /** Milliseconds that the driver waits for the response. */
  query_timeout: number | undefined;
  /** Whether the connection has to prepare one of the statements. */
  preparesStatement = false;

  constructor(members: readonly GroupMember[], done: (error: Error | null) => void) {
    super('', [], (error) => this.#finish(error));
    this.queryMode = 'extended';
    this.#members = members;
    this.#done = done;
    this.#queries = members.map(({ bound: [{ name, text }, values], resolve, reject }) => {
      const query = new Query(text, values, (error, result) => {
        this.#failure ??= error;
        if (error) reject(error);
        else resolve(result.rows);
      });
      query.name = name;
      return query;
    });
  }

  /** Releases the rows, as `TextQuery` does. Messages of the server may arrive after the driver's time limit. */
  #finish(error: Error | null): void {
    const [done, members] = [this.#done, this.#members];
    this.#done = null;
    this.#members = [];
    this.#queries = [];
    if (error) for (const { reject } of members) reject(error);
    done?.(error);
  }

  override prepare(connection: PgConnection): void {
    const unsynced: PgConnection = Object.create(connection);
    unsynced.sync = skip;
    for (const query of this.#queries) {
      this.preparesStatement ||= !query.hasBeenParsed(connection);
      query.prepare(unsynced);
      // Without a Sync, and without the commit behind it, nothing of what was sent before is committed. The connection is closed.
      if (this.#failure) throw this.#failure;
    }
    connection.sync();
  }

  override handleRowDescription(message: object): void {
    this.#queries[this.#current]?.handleRowDescription(message);
  }

  override handleDataRow(message: object): void {
    this.#queries[this.#current]?.handleDataRow(message);
  }

  override handleCommandComplete(message: object, connection: PgConnection): void {
    this.#queries[this.#current++]?.handleCommandComplete(message, connection);
  }

  override handleReadyForQuery(connection: PgConnection): void {
    for (const query of this.#queries) query.handleReadyForQuery(connection);
    super.handleReadyForQuery(connection);
  }
}

/**
 * Sends the statements as one group, and resolves when PostgreSQL has answered the group. Their promises then have their rows, or all of
 * them the error of the one that failed; a row that cannot be parsed rejects its statement only.
 *
 * @param timeout Milliseconds that the driver waits, in place of the connection's.
 * @returns the error, and whether the connection can be used further: after an error, it is not known which new statements are prepared.
 */
export function queryGroup(
  client: pg.ClientBase,
  members: readonly GroupMember[],
  timeout?: number,
): Promise<{ error: Error | null; isReusable: boolean }> {
  return new Promise((resolve) => {
    const group = new StatementGroup(members, (error) =>
      resolve({ error, isReusable: error === null || !group.preparesStatement }),
    );
    group.query_timeout = timeout;
    try {
      client.query(group);
    } catch (error) {
      for (const { reject } of members) reject(error);
      resolve({ error: error as Error, isReusable: false });
    }
  });
}

const tickTasks: (() => void)[] = [];

/** Runs the task in the next `setImmediate`, when this tick of the event loop ends: after earlier tasks, before tasks that it adds itself. */
export function runInNextImmediate(task: () => void): void {
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
function corkUntilEndOfTick(client: pg.ClientBase): void {
  const { stream } = getConnection(client);
  if (corkedStreams.has(stream)) return;
  corkedStreams.add(stream);
  stream.cork();
  runInNextImmediate(() => {
    corkedStreams.delete(stream);
    stream.uncork();
  });
}

const Connection = pg.Connection as unknown as new (config: { stream: Duplex }) => PgConnection & pg.Connection;

/** Whether this version of pg sends the messages that PostgreSQL expects: of a read without Describe, of a group with one Sync. */
export function testPgPipeline(): boolean {
  let sent = '';
  const stream = new Duplex({
    read() {},
    write(message: Buffer, _encoding, done) {
      sent += String.fromCharCode(message[0]!);
      done();
    },
  });
  const connection = new Connection({ stream });
  const received: unknown[] = [];
  const bound: BoundStatement = [{ name: 'write', text: '' }, ['value']];
  const member: GroupMember = { bound, resolve: (rows) => received.push(rows.length), reject: () => undefined };
  const group = new StatementGroup([member, member], (error) => received.push(error));
  group.submit(connection);
  for (let count = 0; count < 2; count++) group.handleCommandComplete({ text: 'SELECT 0' }, connection);
  group.handleReadyForQuery(connection);
  omitDescribe({ connection } as never);
  const read = new TextQuery({ name: 'read', text: '' }, [], (_error, rows) => received.push(...rows.flat()));
  read.submit(connection);
  read.handleDataRow({ fields: ['text'] });
  read.handleReadyForQuery(connection);
  stream.destroy();
  return sent === 'PBDEBDESPBES' && received.join() === '0,0,,text';
}
