import type pg from 'pg';
import { omitDescribe, queryTextRows, type Statement, type TextRow } from '../../node-internals/pg-pipeline.ts';
import { connectWithSettings, READER_SETTINGS } from '../pool/session-settings.ts';
import { StatementRunner } from '../pool/statement-runner.ts';
import { CONNECT_TIMEOUT_MS, QUERY_MARGIN_MS } from '../pool/timeouts.ts';

/** A statement of a snapshot counts the records of a builder, or reads a page of them. */
const STATEMENT_TIMEOUT_MS = 60_000;

/** The transaction is idle while a file is sent to the store. */
const IDLE_TIMEOUT_MS = 600_000;

const SETTINGS = {
  ...READER_SETTINGS,
  statement_timeout: String(STATEMENT_TIMEOUT_MS),
  idle_in_transaction_session_timeout: String(IDLE_TIMEOUT_MS),
};

const CONFIG: pg.ClientConfig = {
  connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
  query_timeout: STATEMENT_TIMEOUT_MS + QUERY_MARGIN_MS,
};

/** Runs prepared reads in one transaction, on a connection of its own. */
class SnapshotRunner extends StatementRunner {
  readonly #client: pg.Client;

  constructor(client: pg.Client) {
    super('', { regular: 0, reserve: 0 });
    this.#client = client;
  }

  override run(
    statement: Statement,
    values: readonly unknown[],
    _traces?: unknown,
    form = statement,
  ): Promise<TextRow[]> {
    return queryTextRows(this.#client, form, values);
  }
}

/** Runs the work in a transaction whose reads all see the database as it is at the first of them. */
export async function readInSnapshot<T>(url: string, work: (runner: StatementRunner) => Promise<T>): Promise<T> {
  const client = await connectWithSettings(url, SETTINGS, CONFIG);
  try {
    omitDescribe(client);
    const runner = new SnapshotRunner(client);
    await runner.run({ name: '', text: 'begin isolation level repeatable read read only' }, []);
    return await work(runner);
  } finally {
    await client.end().catch(() => undefined);
  }
}
