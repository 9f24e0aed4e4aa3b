import { describeDatabaseError } from './database/errors.ts';
import { OperatorError } from './shared/operator-error.ts';

/** Returns one line if the operator can correct the cause, the stack otherwise. */
export function describeStartError(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  const { code = '', path, syscall } = error as NodeJS.ErrnoException;
  const { port, address, hostname } = error as { port?: number; address?: string; hostname?: string };
  if (code === 'EADDRINUSE') return `Port ${port} is in use: set PORT to another one.`;
  if (['EADDRNOTAVAIL', 'ENOTFOUND', 'EAI_AGAIN'].includes(code))
    return `HOST must be an address or name of this machine, and ${address ?? hostname} is not.`;
  if (code === 'EACCES' && port !== undefined) return `Port ${port} of ${address} may not be used by this user.`;
  if (syscall === 'mkdir' || ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR'].includes(code))
    return `The data folder cannot be written: ${path ?? code}.`;
  return describeDatabaseError(error) ?? (error as Error).stack ?? String(error);
}
