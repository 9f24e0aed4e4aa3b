import type pg from 'pg';
import { isLostConnection } from '../database/errors.ts';
import { connectWithSettings, DIRECT_SETTINGS } from '../database/pool/session-settings.ts';
import { CONNECT_TIMEOUT_MS } from '../database/pool/timeouts.ts';
import { OperatorError } from '../shared/operator-error.ts';
import { toTerminalLine } from '../shared/terminal-text.ts';

/** An import or export that cannot run. The message is one line for the operator. */
export class DataTransferError extends OperatorError {
  override name = 'DataTransferError';

  constructor(message: string, options?: ErrorOptions) {
    super(toTerminalLine(message), options);
  }
}

/** Runs the work in a transaction on a new connection. Commits if the result has `commit: true`, and rolls back otherwise. */
export async function withTransaction<T extends { commit: boolean }>(
  url: string,
  begin: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = await connectWithSettings(url, DIRECT_SETTINGS, { connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  let ending = false;
  try {
    await client.query(begin);
    const result = await work(client);
    ending = true;
    await client.query(result.commit ? 'commit' : 'rollback');
    return result;
  } catch (error) {
    if (!isLostConnection(error)) throw error;
    // Without the response to the commit its outcome is unknown; repeating the import is safe.
    const outcome = ending ? 'at the very end: do it again' : 'and nothing was changed';
    throw new DataTransferError(`The connection to the database was lost, ${outcome}.`, { cause: error });
  } finally {
    // Closing the connection rolls back what is not committed.
    await client.end().catch(() => {});
  }
}
