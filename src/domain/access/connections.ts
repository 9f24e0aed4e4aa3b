import type { EntityManager } from '@mikro-orm/postgresql';
import { Builder } from '../../../entities/builder.entity.ts';
import { Connection } from '../../../entities/connection.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { INTERNAL_SCOPES } from '../../../schema/scopes.ts';
import { type ChangeContext, changeRow, insertUnique, inTransaction, lockRow, requireRow } from '../change-context.ts';
import { requireUnchanged } from '../edit-conflicts.ts';
import { parseId, parseScopes } from './access-values.ts';
import { InvalidInputError } from './invalid-input-error.ts';

interface ConnectionKey {
  integratorId: string;
  builderId: string;
}

interface NewConnection extends ConnectionKey {
  /** Scopes that the builder allows. Each text holds one or more, separated by spaces. */
  scopes: string[];
  /** Whether the scopes of an active connection are replaced. */
  replace: boolean;
}

/** Creates a connection, or reactivates a revoked one. Connecting twice is an error without `replace`. ACC-2. */
export async function createConnection(context: ChangeContext, request: NewConnection) {
  const key = checkKey(request);
  const allowed = parseConnectionScopes(request.scopes);
  const connected = new InvalidInputError(
    'builderId',
    `${key.integratorId} is connected to ${key.builderId} already; update the connection to change its scopes`,
  );
  return inTransaction(context, async (em, now, record) => {
    await requireRow(context, em, Integrator, 'integrator', key.integratorId);
    await requireRow(context, em, Builder, 'builder', key.builderId);
    const connection = await lockRow(em, Connection, key);
    const after = { status: 'ACTIVE' as const, scopes: allowed };
    if (!connection) {
      const row = { ...key, ...after, createdAt: now, updatedAt: now };
      await insertUnique(em, Connection, row, connected);
      await record({ ...toSubject(key), action: 'connection.created', after: { ...key, ...after } });
      return { ...key, ...after, change: 'created' };
    }
    const { status, scopes } = connection;
    const active = status === 'ACTIVE';
    if (active && !request.replace) throw connected;
    Object.assign(connection, after, { updatedAt: now });
    const action = active ? 'connection.updated' : 'connection.reactivated';
    await record({ ...toSubject(key), action, before: { status, scopes }, after });
    return { ...key, ...after, change: active ? 'replaced' : 'reactivated' };
  });
}

/** Replaces the scopes of an active connection. They apply to tokens that exist within a second. ACC-6. */
export async function updateConnection(context: ChangeContext, request: ConnectionKey & { scopes: string[] }) {
  const key = checkKey(request);
  const after = { scopes: parseConnectionScopes(request.scopes) };
  return inTransaction(context, async (em, now, record) => {
    const connection = await lockConnection(context, em, key);
    if (connection.status !== 'ACTIVE')
      throw new InvalidInputError('builderId', `the connection of ${key.integratorId} to ${key.builderId} is revoked`);
    const change = { ...toSubject(key), action: 'connection.updated' as const };
    const changed = await changeRow(connection, after, now, record, change);
    return { ...key, status: connection.status, ...after, changed };
  });
}

/** Revokes a connection. Records that the integrator wrote are kept. */
export async function revokeConnection(context: ChangeContext, request: ConnectionKey) {
  const key = checkKey(request);
  return inTransaction(context, async (em, now, record) => {
    const connection = await lockConnection(context, em, key);
    const change = { ...toSubject(key), action: 'connection.revoked' as const };
    const changed = await changeRow(connection, { status: 'REVOKED' }, now, record, change);
    return { ...key, status: 'REVOKED', scopes: connection.scopes, changed };
  });
}

function parseConnectionScopes(texts: string[]): string[] {
  const allowed = parseScopes(texts);
  const reserved = allowed.find((scope) => (INTERNAL_SCOPES as readonly string[]).includes(scope));
  if (reserved)
    throw new InvalidInputError('scopes', `${reserved} is for internal clients, which require no connection`);
  return allowed;
}

const checkKey = ({ integratorId, builderId }: ConnectionKey): ConnectionKey => ({
  integratorId: parseId('integratorId', 'integrator', integratorId),
  builderId: parseId('builderId', 'builder', builderId),
});

async function lockConnection(context: ChangeContext, em: EntityManager, key: ConnectionKey): Promise<Connection> {
  await requireRow(context, em, Integrator, 'integrator', key.integratorId);
  await requireRow(context, em, Builder, 'builder', key.builderId);
  const connection = await lockRow(em, Connection, key);
  if (!connection)
    throw new InvalidInputError('builderId', `${key.integratorId} was never connected to ${key.builderId}`);
  await requireUnchanged(context, em, connection, `${key.integratorId}/${key.builderId}`);
  return connection;
}

/** Returns what the audit log records a change of the connection about. */
const toSubject = (key: ConnectionKey) => ({ ...key, objectId: `${key.integratorId}/${key.builderId}` });
