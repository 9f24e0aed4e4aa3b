import { Builder } from '../../../entities/builder.entity.ts';
import { Connection } from '../../../entities/connection.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { INTERNAL_SCOPES } from '../../../schema/scopes.ts';
import { CliError } from '../cli-error.ts';
import { parseId, parseScopes } from './argument-parsers.ts';
import { type CommandContext, insertUnique, inTransaction, lockRow, requireRow } from './command-context.ts';

export interface ConnectionKey {
  integratorId: string;
  builderId: string;
}

export interface NewConnection extends ConnectionKey {
  /** Scopes that the builder allows. Each text holds one or more, separated by spaces. */
  scopes: string[];
  /** Whether the scopes of an active connection are replaced. */
  replace: boolean;
}

/** Creates a connection, or reactivates a revoked one. Connecting twice is an error without `replace`. ACC-2. */
export async function createConnection(context: CommandContext, request: NewConnection) {
  const key = checkKey(request);
  const allowed = parseScopes(request.scopes);
  const reserved = allowed.find((scope) => (INTERNAL_SCOPES as readonly string[]).includes(scope));
  if (reserved) throw CliError.forOption('--scope', `${reserved} is for internal clients, which require no connection`);
  const problem = `${key.integratorId} is connected to ${key.builderId} already; --replace changes its scopes`;
  return inTransaction(context, async (em, now) => {
    await requireIntegratorAndBuilder(context, em, key);
    const connection = await lockRow(em, Connection, key);
    if (!connection) {
      const row = { ...key, status: 'ACTIVE' as const, scopes: allowed, createdAt: now, updatedAt: now };
      await insertUnique(em, Connection, row, { option: '--builder', problem });
      return { ...key, status: 'ACTIVE', scopes: allowed, change: 'created' };
    }
    const active = connection.status === 'ACTIVE';
    if (active && !request.replace) throw CliError.forOption('--builder', problem);
    Object.assign(connection, { status: 'ACTIVE', scopes: allowed, updatedAt: now });
    return { ...key, status: 'ACTIVE', scopes: allowed, change: active ? 'replaced' : 'reactivated' };
  });
}

/** Revokes a connection. Records that the integrator wrote are kept. */
export async function revokeConnection(context: CommandContext, request: ConnectionKey) {
  const key = checkKey(request);
  return inTransaction(context, async (em, now) => {
    await requireIntegratorAndBuilder(context, em, key);
    const connection = await lockRow(em, Connection, key);
    if (!connection)
      throw CliError.forOption('--builder', `${key.integratorId} was never connected to ${key.builderId}`);
    const changed = connection.status === 'ACTIVE';
    if (changed) Object.assign(connection, { status: 'REVOKED', updatedAt: now });
    return { ...key, status: 'REVOKED', scopes: connection.scopes, changed };
  });
}

const checkKey = ({ integratorId, builderId }: ConnectionKey): ConnectionKey => ({
  integratorId: parseId('--integrator', 'integrator', integratorId),
  builderId: parseId('--builder', 'builder', builderId),
});

async function requireIntegratorAndBuilder(
  context: CommandContext,
  em: Parameters<typeof requireRow>[1],
  key: ConnectionKey,
): Promise<void> {
  await requireRow(context, em, Integrator, { option: '--integrator', what: 'integrator', id: key.integratorId });
  await requireRow(context, em, Builder, { option: '--builder', what: 'builder', id: key.builderId });
}
