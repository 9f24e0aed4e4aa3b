import type { FastifyRequest } from 'fastify';
import type { AuditOrigin } from '../../entities/audit-entry.entity.ts';

/** Returns the origin of a request for the audit log. */
export const toAuditOrigin = ({ ip, id }: FastifyRequest): AuditOrigin => ({ address: ip, requestId: id });
