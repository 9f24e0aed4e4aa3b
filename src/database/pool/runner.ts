import pg from 'pg';
import { isLostConnection } from '../errors.ts';
import { atEndOfTurn, readText, type Statement, type TextRow } from './pg-pipeline.ts';
import { applySettings, READER_SETTINGS, toOptions } from './session-settings.ts';
import { TIMEOUTS } from './timeouts.ts';

/** The statement was sent right behind another of its name, whose preparation failed. It is prepared when it is sent again. */
const NOT_PREPARED = '26000';

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
 * So many at most ask one statement together. Beyond, little is gained, and all would wait for PostgreSQL in one moment and for this
 * process in the next.
 */
const MAX_ASKERS = 8;

/** For so many keys in all, at most, unless one alone asks for more: each may be answered with a page. */
const MAX_KEYS = 64;

/**
 * Prepared statements for selections. PostgreSQL keeps each on every connection that has run it, in some 200 KiB. Beyond, statements
 * have no name and are planned for each use.
 */
export const MAX_SELECTIONS = 250;

/** SQLSTATE class of what is wrong with a value. */
const DATA_EXCEPTION = '22';

/** The values of a statement. One who asks for many keys gives them in place of the value `at`, and is answered for each. */
export interface Question {
  values: readonly unknown[];
  keys?: { at: number; of: readonly string[] };
}

interface Asker {
  question: Question;
  answer(rows: TextRow[][]): void;
  fail(error: unknown): void;
}

/** Those who ask one statement in one turn of the event loop. */
class Gathering {
  readonly askers: Asker[] = [];
  #keys = 0;

  hasRoomFor(question: Question): boolean {
    return this.askers.length < MAX_ASKERS && this.#keys + countOf(question) <= MAX_KEYS;
  }

  add(asker: Asker): void {
    this.askers.push(asker);
    this.#keys += countOf(asker.question);
  }
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
  readonly #selections = new Set<string>();
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
   * The rows for each key of the question, or for the question itself. The statement takes an array of each value, and begins each
   * row with the number, from 1, of what it is for. All who ask in one turn of the event loop are answered together.
   */
  ask(statement: Statement, question: Question): Promise<TextRow[][]> {
    let gathering = this.#gatherings.get(statement);
    if (!gathering?.hasRoomFor(question)) gathering = this.#gather(statement);
    return new Promise((answer, fail) => gathering.add({ question, answer, fail }));
  }

  /** The same beside whatever others ask, for what may take long and should hold up nobody else. */
  askAlone(statement: Statement, question: Question): Promise<TextRow[][]> {
    return this.#askAll(statement, [question]);
  }

  async #askAll(statement: Statement, questions: readonly Question[]): Promise<TextRow[][]> {
    const columns = questions[0]!.values.map((_, at) => columnText(questions, at));
    const rows = await this.run(statement, columns);
    const count = questions.reduce((sum, question) => sum + countOf(question), 0);
    const found = Array.from({ length: count }, (): TextRow[] => []);
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

  async #answer(statement: Statement, { askers }: Gathering): Promise<void> {
    try {
      const found = await this.#askAll(
        statement,
        askers.map(({ question }) => question),
      );
      for (const { question, answer } of askers) answer(found.splice(0, countOf(question)));
    } catch (error) {
      // What one of them asks for must not be the end of the others. What else fails would fail again.
      const isOfOne = askers.length > 1 && codeOf(error)?.startsWith(DATA_EXCEPTION);
      for (const { question, answer, fail } of askers) {
        if (isOfOne) this.askAlone(statement, question).then(answer, fail);
        else fail(error);
      }
    }
  }

  /** Whether the connections may keep that statement, one of many for different selections of the same records. */
  hasRoomFor(name: string): boolean {
    if (this.#selections.has(name)) return true;
    if (this.#selections.size === MAX_SELECTIONS) return false;
    this.#selections.add(name);
    return true;
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
      options: toOptions(READER_SETTINGS),
      ...TIMEOUTS,
    });
    client.on('error', onEnd);
    client.on('end', onEnd);
    try {
      await client.connect();
      await applySettings(client, READER_SETTINGS);
    } catch (error) {
      onEnd();
      client.end().catch(() => undefined);
      throw error;
    }
    return client;
  }
}

const countOf = ({ keys }: Question) => keys?.of.length ?? 1;

/** The value at that place for each who asks, in PostgreSQL's notation of an array of text. */
function columnText(questions: readonly Question[], at: number): string {
  const elements = questions.map(({ values, keys }) => {
    if (keys?.at === at) return keys.of.map(elementText).join();
    const element = elementText(values[at]);
    return keys ? `${element},`.repeat(keys.of.length).slice(0, -1) : element;
  });
  return `{${elements.join()}}`;
}

/** A list within is an element in the same notation. */
function elementText(value: unknown): string {
  if (value == null) return 'NULL';
  const text = Array.isArray(value) ? `{${value.map(elementText).join()}}` : String(value);
  return /["\\]/.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`;
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
