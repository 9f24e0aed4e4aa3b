import type { AuditSource } from '../../src/domain/audit/record-audit.ts';

/** Source of an operator's command, for tests that call its functions directly. */
export const OPERATOR: AuditSource = {
  actor: { type: 'OPERATOR', id: 'robin' },
  origin: { host: 'ops-1', command: 'test' },
};
