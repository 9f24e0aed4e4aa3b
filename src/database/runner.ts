import pg from 'pg';
import { SESSION_OPTIONS } from './orm.ts';
import { TIMEOUTS } from './timeouts.ts';
import { atEndOfTurn, readText, type Statement, type TextRow } from './wire.ts';

/**
 * A plan that was prepared lives as long as its connection, whatever the tables were like then. What a request reads is found
 * by indexes, row by row; a plan made over empty or small tables would read the whole of them when they have grown. A plan for
 * the values of one call would be made anew for each, which takes longer than most reads.
 */
export const READER_OPTIONS = [
  SESSION_OPTIONS,
  ...['enable_seqscan=off', 'enable_hashjoin=off', 'enable_mergejoin=off', 'plan_cache_mode=force_generic_plan'].map(
    (setting) => `-c ${setting}`,
  ),
].join(' ');

/** The statement was sent right behind another of its name, whose preparation failed. It is prepared when it is sent again. */
const NOT_PREPARED = '26000';

/** Errors after which a read may be sent again on another connection. SQLSTATE class 08 and the shutdown codes. */
const LOST_CONNECTION = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

/** A lane is stalled when nothing has come back on it for so long: what is sent now would wait behind a slow statement. */
const STALLED_MS = 100;

/** Lanes that are opened only while the usual ones are stalled. */
const RESERVE = 4;

/**
 * A lost statement is sent again until one connection is certainly new; not once its caller has waited for so long, as after
 * a connection that could not be made in time.
 */
const PATIENCE_MS = 3_000;

/**
 * So many at most are answered by one statement, unless one alone asks for more. Beyond, little is gained, and all would wait for
 * PostgreSQL in one moment and for this process in the next.
 */
const TOGETHER = 8;

/** SQLSTATE class of what is wrong with a value. */
const DATA_EXCEPTION = '22';

/** Those who ask one statement in one turn of the event loop. */
class Gathering {
  readonly lists: unknown[][] = [];
  readonly askers: { first: number; count: number; answer(rows: TextRow[][]): void; fail(error: unknown): void }[] = [];
}

/** One connection, and how it gets on. */
class Lane {
  client: Promise<pg.Client> | null = null;
  /** The same once it is open: a statement can then be sent in this very turn. */
  open: pg.Client | null = null;
  inFlight = 0;
  /** When the last answer came, or the first statement of those in flight was sent. */
  movedAt = 0;

  isStalled(now: number): boolean {
    return this.inFlight > 0 && now - this.movedAt > STALLED_MS;
  }
}

/**
 * Runs prepared reads on a few connections that carry many statements at once (pipelining). Reads only: a transaction on
 * a shared connection would take in the statements of others.
 */
export class StatementRunner {
  readonly #url: string;
  readonly #usual: number;
  readonly #lanes: Lane[];
  readonly #listeners = new Set<(statement: Statement) => void>();
  readonly #gatherings = new Map<Statement, Gathering>();
  #next = 0;
  #closed = false;

  constructor(url: string, connections = 2) {
    this.#url = url;
    this.#usual = connections;
    this.#lanes = Array.from({ length: connections + RESERVE }, () => new Lane());
  }

  async run(statement: Statement, values: unknown[]): Promise<TextRow[]> {
    for (const listener of this.#listeners) listener(statement);
    const began = performance.now();
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#send(statement, values);
      } catch (error) {
        const late = performance.now() - began > PATIENCE_MS;
        const again = isLostConnection(error) || codeOf(error) === NOT_PREPARED;
        if (!again || attempt === this.#usual || late) throw error;
      }
    }
  }

  /**
   * The rows for each of the lists of values. The statement takes an array of each value, and begins each row with the number, from
   * 1, of the list that it is for. All who ask in one turn of the event loop are answered together.
   */
  ask(statement: Statement, lists: unknown[][]): Promise<TextRow[][]> {
    let gathering = this.#gatherings.get(statement);
    if (!gathering || gathering.lists.length + lists.length > TOGETHER) {
      gathering = this.#gather(statement);
    }
    const { lists: all, askers } = gathering;
    return new Promise((answer, fail) => {
      askers.push({ first: all.length, count: lists.length, answer, fail });
      all.push(...lists);
    });
  }

  /** The same beside whatever others ask, for what may take long and should hold up nobody else. */
  async askAlone(statement: Statement, lists: unknown[][]): Promise<TextRow[][]> {
    const columns = lists[0]!.map((_, at) => lists.map((list) => textOf(list[at])));
    const rows = await this.run(statement, columns);
    const found: TextRow[][] = lists.map(() => []);
    for (const row of rows) found[Number(row[0]) - 1]!.push(row);
    return found;
  }

  #gather(statement: Statement): Gathering {
    const gathering = new Gathering();
    this.#gatherings.set(statement, gathering);
    atEndOfTurn(() => {
      if (this.#gatherings.get(statement) === gathering) this.#gatherings.delete(statement);
      void this.#answer(statement, gathering);
    });
    return gathering;
  }

  async #answer(statement: Statement, { lists, askers }: Gathering): Promise<void> {
    try {
      const found = await this.askAlone(statement, lists);
      for (const { first, count, answer } of askers) answer(found.slice(first, first + count));
    } catch (error) {
      // What one of them asks for must not be the end of the others. What else fails would fail again.
      const isOfOne = askers.length > 1 && codeOf(error)?.startsWith(DATA_EXCEPTION);
      for (const { first, count, answer, fail } of askers) {
        if (isOfOne) this.askAlone(statement, lists.slice(first, first + count)).then(answer, fail);
        else fail(error);
      }
    }
  }

  /** Hears of every statement that is sent, so that tests can count them. Returns a function that ends it. */
  onStatement(listener: (statement: Statement) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(
      this.#lanes.map(async (lane) => {
        const { client } = lane;
        leave(lane);
        await client?.then((open) => open.end()).catch(() => undefined);
      }),
    );
  }

  async #send(statement: Statement, values: unknown[]): Promise<TextRow[]> {
    const lane = this.#lane();
    if (lane.inFlight++ === 0) lane.movedAt = performance.now();
    lane.client ??= this.#open(lane);
    const { client, open } = lane;
    try {
      return await readText(open ?? (await client), statement, values);
    } catch (error) {
      if (isLostConnection(error)) forget(lane, client);
      throw error;
    } finally {
      lane.inFlight--;
      lane.movedAt = performance.now();
    }
  }

  /** The usual lanes in turn, past those that are stalled; then the reserve. */
  #lane(): Lane {
    this.#next = (this.#next + 1) % this.#usual;
    const now = performance.now();
    for (let step = 0; step < this.#usual; step++) {
      const lane = this.#lanes[(this.#next + step) % this.#usual]!;
      if (!lane.isStalled(now)) return lane;
    }
    return this.#lanes.slice(this.#usual).find((lane) => !lane.isStalled(now)) ?? this.#lanes[this.#next]!;
  }

  #open(lane: Lane): Promise<pg.Client> {
    const opening = this.#connect(() => {
      // Its end may be told twice, the second time when another has taken its place.
      if (lane.client === opening) leave(lane);
    });
    opening.then(
      (client) => {
        if (lane.client === opening) lane.open = client;
      },
      () => undefined,
    );
    return opening;
  }

  async #connect(onEnd: () => void): Promise<pg.Client> {
    if (this.#closed) throw new Error('Connection ended: the runner is closed.');
    const client = new pg.Client({
      connectionString: this.#url,
      options: READER_OPTIONS,
      ...TIMEOUTS,
    });
    client.on('error', onEnd);
    client.on('end', onEnd);
    try {
      await client.connect();
    } catch (error) {
      onEnd();
      throw error;
    }
    return client;
  }
}

/** A value as an element of an array of text. A list becomes PostgreSQL's notation of it. */
function textOf(value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  return `{${value.map((item) => `"${String(item).replace(/["\\]/g, '\\$&')}"`).join()}}`;
}

/** A connection that lost a statement is of no more use, whether or not it has been told to be over. */
function forget(lane: Lane, client: Promise<pg.Client> | null): void {
  if (lane.client !== client) return;
  leave(lane);
  client?.then((lost) => lost.end()).catch(() => undefined);
}

/** The next statement opens another connection. */
function leave(lane: Lane): void {
  lane.client = null;
  lane.open = null;
}

const codeOf = (error: unknown) => (error as { code?: string }).code;

export function isLostConnection(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return (
    (code !== undefined && (LOST_CONNECTION.has(code) || code.startsWith('08'))) ||
    /connection terminated|connection ended|not queryable|timeout expired|read timeout|timeout exceeded when trying/i.test(
      message ?? '',
    )
  );
}
