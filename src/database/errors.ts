import { ApiError, internalError, unavailable } from '../shared/errors.ts';

/** Errors after which a read may be sent again on another connection. SQLSTATE class 08 and the shutdown codes. */
const LOST_CONNECTION = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

/**
 * What passes. SQLSTATEs of a database that is there and cannot answer now: timeouts, too many connections, memory, disk
 * full, read-only, deadlock; and the codes of a disk of our own that is full.
 */
const PASSING = new Set([
  ...['57014', '55P03', '53300', '53200', '53100', '25006', '40001', '40P01', '25P03'],
  ...['ENOSPC', 'EDQUOT'],
]);

/** Whether a write failed because the database is read-only, as a standby is: nothing has begun. */
export const isReadOnlyDatabase = (error: unknown): boolean => (error as { code?: string } | null)?.code === '25006';

/** What a client sees of anything that was thrown: the error itself when it is public, else 503 or 500. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const code = (error as { code?: string } | null)?.code;
  if (isLostConnection(error) || (code !== undefined && PASSING.has(code))) return unavailable(error);
  return internalError(error);
}

export function isLostConnection(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return (
    (code !== undefined && (LOST_CONNECTION.has(code) || code.startsWith('08'))) ||
    /connection terminated|connection ended|not queryable|timeout expired|read timeout|timeout exceeded when trying/i.test(
      message ?? '',
    )
  );
}
