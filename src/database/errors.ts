import { ApiError, internalError, notFound, unavailable } from '../shared/errors.ts';

/** Errors after which a read may be sent again on another connection: SQLSTATE shutdown codes and codes of the socket. */
const LOST_CONNECTION = new Set(['57P01', '57P02', '57P03', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

/**
 * Transient errors: SQLSTATEs of timeouts, of a statement whose preparation timed out for an earlier one of the same connection, too many
 * connections, out of memory, disk full, read-only, serialization failure and deadlock, and the file system's codes of a full disk.
 */
const TRANSIENT = new Set([
  '57014',
  '55P03',
  '26000',
  '53300',
  '53200',
  '53100',
  '25006',
  '40001',
  '40P01',
  '25P03',
  'ENOSPC',
  'EDQUOT',
]);

export const FOREIGN_KEY_VIOLATION = '23503';

/** Returns the SQLSTATE of a PostgreSQL error, or the code of a system error. */
export const getErrorCode = (error: unknown): string | undefined => (error as { code?: string } | null)?.code;

/** Returns one line about a statement that the database cannot execute now, or that its user may not execute; null for another error. */
export function describeDatabaseError(error: unknown): string | null {
  const { code, message } = (error ?? {}) as NodeJS.ErrnoException;
  // The migrator writes the statement before PostgreSQL's message, which may be in another language.
  const [reason = code ?? message] =
    /(?:permission denied|must be owner|cannot execute|no space left) .*$/im.exec(message) ?? [];
  if (code === '42501')
    return `The database user may not do this (${reason}): a right is missing, or the tables belong to another user, whom DATABASE_URL_AU1_OWNER and DATABASE_URL_US1_OWNER name for migrations.`;
  // Tables of another program, and collations that an encoding has not.
  if (code === '42P07' || code === '42704')
    return `The database must be empty, with the encoding UTF8, or of an earlier release (${message.split(' - ').at(-1)}).`;
  return isTransientError(error ?? {}) ? `The database or a disk cannot be used now: ${reason}.` : null;
}

/** Whether a write failed because the database is read-only, as a standby is. Nothing was written. */
export const isReadOnlyError = (error: unknown): boolean => getErrorCode(error) === '25006';

/** Whether a value of a statement is the cause: SQLSTATE classes 22 (data) and 23 (integrity). */
export const isValueError = (error: unknown): boolean => /^2[23]/.test(getErrorCode(error) ?? '');

/** Returns the error that a client sees of anything that was thrown: an `ApiError` as it is, others as 404, 503 or 500. */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  // Of what clients refer to, the database deletes only records of an erased builder, to which they had access a moment ago.
  if (getErrorCode(error) === FOREIGN_KEY_VIOLATION) return notFound('Builder');
  return isTransientError(error) ? unavailable(error) : internalError(error);
}

/** Whether the same statement may succeed later: its connection was lost, or the database cannot execute it now. */
export const isTransientError = (error: unknown): boolean =>
  isLostConnection(error) || TRANSIENT.has(getErrorCode(error) ?? '');

/** Whether a statement failed because its connection was lost, including SQLSTATE class 08. */
export function isLostConnection(error: unknown): boolean {
  const { code, message } = error as { code?: string; message?: string };
  return (
    (code !== undefined && (LOST_CONNECTION.has(code) || code.startsWith('08'))) ||
    /connection terminated|connection ended|not queryable|timeout expired|read timeout|timeout exceeded when trying/i.test(
      message ?? '',
    )
  );
}
