import { hostname, userInfo } from 'node:os';
import type { AuditSource } from '../../domain/audit/record-audit.ts';

/** Returns the source of an operator's command: the account of the operating system, and the host. Arguments are not recorded. */
export const createOperatorSource = (command: string): AuditSource => ({
  actor: { type: 'OPERATOR', id: findAccountName() },
  origin: { host: hostname(), command },
});

/** Returns the name of the account, or its number where it has no name, as in some containers. */
function findAccountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? 'unknown');
  }
}
