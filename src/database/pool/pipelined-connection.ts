import type pg from 'pg';
import { omitDescribe, queryTextRows, type Statement, type TextRow } from '../../node-internals/pg-pipeline.ts';
import { isLostConnection } from '../errors.ts';
import { connectWithSettings, READER_SETTINGS } from './session-settings.ts';
import { CLIENT_CONFIG } from './timeouts.ts';

/** Milliseconds without a response after which a connection counts as stalled: new statements would wait behind a slow one. */
const STALL_MS = 100;

/** A connection that carries many statements at once. It opens when it is first used, and again after it was lost. */
export class PipelinedConnection {
  readonly #url: string;
  #client: Promise<pg.Client> | null = null;
  /** The client once it is connected: its statements can be sent without waiting for a promise. */
  #connectedClient: pg.Client | null = null;
  #inFlight = 0;
  /** Time of the last response, or of sending the first of the statements in flight. */
  #progressAt = 0;
  #isClosed = false;

  constructor(url: string) {
    this.#url = url;
  }

  get isOpen(): boolean {
    return this.#connectedClient !== null;
  }

  /** Number of statements without a response. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Statements without a response, and half a statement while it is closed: of equal ones, an open one is better, since another may not open. */
  get load(): number {
    return this.#inFlight + (this.#connectedClient ? 0 : 0.5);
  }

  isStalled(now: number): boolean {
    return this.#inFlight > 0 && now - this.#progressAt > STALL_MS;
  }

  async query(statement: Statement, values: readonly unknown[]): Promise<TextRow[]> {
    if (this.#inFlight++ === 0) this.#progressAt = performance.now();
    this.#client ??= this.#open();
    const client = this.#client;
    try {
      return await queryTextRows(this.#connectedClient ?? (await client), statement, values);
    } catch (error) {
      if (isLostConnection(error)) this.#discard(client);
      throw error;
    } finally {
      this.#inFlight--;
      this.#progressAt = performance.now();
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const client = this.#client;
    this.#reset();
    await client?.then((connected) => connected.end()).catch(() => undefined);
  }

  /** Ends a connection that lost a statement, whether or not it has emitted `end`. */
  #discard(client: Promise<pg.Client>): void {
    if (this.#client !== client) return;
    this.#reset();
    client.then((lost) => lost.end()).catch(() => undefined);
  }

  /** Makes the next statement open a new connection. */
  #reset(): void {
    this.#client = null;
    this.#connectedClient = null;
  }

  #open(): Promise<pg.Client> {
    const opening = this.#connect();
    const reset = () => {
      // A lost connection emits both `error` and `end`, the latter possibly after its successor was opened.
      if (this.#client === opening) this.#reset();
    };
    opening.then((client) => {
      client.on('error', reset);
      client.on('end', reset);
      if (this.#client === opening) this.#connectedClient = client;
    }, reset);
    return opening;
  }

  async #connect(): Promise<pg.Client> {
    if (this.#isClosed) throw new Error('Connection ended: the runner is closed.');
    const client = await connectWithSettings(this.#url, READER_SETTINGS, CLIENT_CONFIG);
    omitDescribe(client);
    return client;
  }
}
