import { Builder } from '../../../entities/builder.entity.ts';
import { Connection } from '../../../entities/connection.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { INTERNAL_SCOPES } from '../../../schema/scopes.ts';
import { refuse } from '../cli-error.ts';
import { identifier, scopes } from './checks.ts';
import { existing, insertOnce, inTransaction, lockRow, type Place } from './command-context.ts';

export interface ConnectionKey {
  integratorId: string;
  builderId: string;
}

export interface NewConnection extends ConnectionKey {
  /** What the builder allows. Each may hold several scopes with spaces between. */
  scopes: string[];
  /** Whether an active connection takes these scopes in place of its own. */
  replace: boolean;
}

/** Gives an integrator access to a builder's data, anew where it had been revoked. ACC-2. */
export async function createConnection(place: Place, request: NewConnection) {
  const key = checkKey(request);
  const allowed = scopes(request.scopes);
  const reserved = allowed.find((scope) => (INTERNAL_SCOPES as readonly string[]).includes(scope));
  if (reserved) refuse('--scope', `${reserved} is for internal clients, which need no connection`);
  const problem = `${key.integratorId} is connected to ${key.builderId} already; --replace changes its scopes`;
  return inTransaction(place, async (em, now) => {
    await requireBoth(place, em, key);
    const connection = await lockRow(em, Connection, key);
    if (!connection) {
      const row = { ...key, status: 'ACTIVE' as const, scopes: allowed, createdAt: now, updatedAt: now };
      await insertOnce(em, Connection, row, { option: '--builder', problem });
      return { ...key, status: 'ACTIVE', scopes: allowed, change: 'created' };
    }
    const active = connection.status === 'ACTIVE';
    if (active && !request.replace) refuse('--builder', problem);
    Object.assign(connection, { status: 'ACTIVE', scopes: allowed, updatedAt: now });
    return { ...key, status: 'ACTIVE', scopes: allowed, change: active ? 'replaced' : 'reactivated' };
  });
}

/** Ends the access. What the integrator wrote stays, and stays its own. */
export async function revokeConnection(place: Place, request: ConnectionKey) {
  const key = checkKey(request);
  return inTransaction(place, async (em, now) => {
    await requireBoth(place, em, key);
    const connection = await lockRow(em, Connection, key);
    if (!connection) return refuse('--builder', `${key.integratorId} was never connected to ${key.builderId}`);
    const changed = connection.status === 'ACTIVE';
    if (changed) Object.assign(connection, { status: 'REVOKED', updatedAt: now });
    return { ...key, status: 'REVOKED', scopes: connection.scopes, changed };
  });
}

const checkKey = ({ integratorId, builderId }: ConnectionKey): ConnectionKey => ({
  integratorId: identifier('--integrator', 'integrator', integratorId),
  builderId: identifier('--builder', 'builder', builderId),
});

async function requireBoth(place: Place, em: Parameters<typeof existing>[1], key: ConnectionKey): Promise<void> {
  await existing(place, em, Integrator, { option: '--integrator', what: 'integrator', id: key.integratorId });
  await existing(place, em, Builder, { option: '--builder', what: 'builder', id: key.builderId });
}
