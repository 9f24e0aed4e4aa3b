import type { EntityManager } from '@mikro-orm/postgresql';
import { ClientSecret } from '../../../entities/client-secret.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { hashSecret, newSecret, VALID_SECRETS } from '../../shared/secrets.ts';
import { type ChangeContext, changeRow, inTransaction, lockRequiredRow, requireRow } from '../change-context.ts';
import { type NewClient, validateClient } from './client-rules.ts';
import { InvalidInputError } from './invalid-input-error.ts';

/** Registers an OAuth client. The secret of a confidential client is returned once and stored as a digest. OAU-1, ACC-16. */
export async function createClient(context: ChangeContext, request: NewClient) {
  const client = validateClient(request);
  return inTransaction(context, async (em, now, record) => {
    const { integratorId } = client;
    if (integratorId !== null) await requireRow(context, em, Integrator, 'integrator', integratorId);
    const id = newId('client', context.clock.now());
    await em.insert(OAuthClient, { id, ...client, disabledAt: null, createdAt: now, updatedAt: now });
    const secret = client.type === 'CONFIDENTIAL' ? await addSecret(em, id, now) : null;
    await record({ action: 'client.created', objectId: id, integratorId, after: client });
    const type = client.type.toLowerCase();
    return { clientId: id, clientSecret: secret?.secret ?? null, ...client, type, createdAt: now };
  });
}

/** Properties of a client to replace; absent ones are kept. A null agreement is removed. */
type ClientUpdate = Partial<
  Pick<NewClient, 'name' | 'grants' | 'scopes' | 'redirectUris' | 'origins'> & { pilotAgreement: string | null }
>;

/**
 * Updates a client. A removed scope or grant applies to its tokens within a second, and a removed redirect URI to the codes that were
 * sent to it. An agreement is removed together with `write:sign_on_events`. ACC-25.
 */
export async function updateClient(context: ChangeContext, id: string, update: ClientUpdate) {
  return inTransaction(context, async (em, now, record) => {
    const client = await lockClient(context, em, id);
    const merged = { ...client, ...withoutUndefined(update) };
    const keepsPilot =
      update.scopes === undefined || merged.scopes.some((text) => /\bwrite:sign_on_events\b/.test(text));
    const agreement = update.pilotAgreement === undefined && keepsPilot ? client.pilotAgreement : update.pilotAgreement;
    const integratorId = client.integratorId ?? undefined;
    const valid = validateClient({ ...merged, integratorId, pilotAgreement: agreement ?? undefined });
    const change = { action: 'client.updated' as const, objectId: id, integratorId: client.integratorId };
    const changed = await changeRow(client, valid, now, record, change);
    return { clientId: id, ...valid, type: client.type.toLowerCase(), changed };
  });
}

const withoutUndefined = <T extends object>(values: T) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as T;

/** Adds a secret. The newest two stay valid, so that the application can switch without downtime; older ones are deleted. */
export async function rotateSecret(context: ChangeContext, id: string) {
  return inTransaction(context, async (em, now, record) => {
    const client = await lockClient(context, em, id);
    if (client.type === 'PUBLIC') throw new InvalidInputError('clientId', `${id} is a public client and has no secret`);
    const secrets = await em.find(ClientSecret, { clientId: id }, { orderBy: { createdAt: 'desc', id: 'desc' } });
    // The new secret must be the newest, even if the clock of another machine was ahead.
    const newest = Math.max(Date.parse(secrets[0]?.createdAt ?? now), context.clock.now());
    const added = await addSecret(em, id, new Date(newest).toISOString());
    const dropped = secrets.slice(VALID_SECRETS - 1);
    for (const secret of dropped) em.remove(secret);
    client.updatedAt = now;
    const before = { secretIds: secrets.map((secret) => secret.id) };
    const after = { secretIds: [added.id, ...secrets.slice(0, VALID_SECRETS - 1).map((secret) => secret.id)] };
    const { integratorId } = client;
    await record({ action: 'client_secret.rotated', objectId: id, integratorId, before, after });
    const validSecrets = secrets.length - dropped.length + 1;
    return { clientId: id, clientSecret: added.secret, validSecrets, dropped: dropped.length };
  });
}

/** Disables a client. Its tokens stop working. */
export const disableClient = (context: ChangeContext, id: string) => setClientEnabled(context, id, false);

/** Enables a disabled client again. */
export const enableClient = (context: ChangeContext, id: string) => setClientEnabled(context, id, true);

const setClientEnabled = (context: ChangeContext, id: string, enabled: boolean) =>
  inTransaction(context, async (em, now, record) => {
    const client = await lockClient(context, em, id);
    const action = enabled ? 'client.enabled' : 'client.disabled';
    const after = { disabledAt: enabled ? null : (client.disabledAt ?? now) };
    const change = { action, objectId: id, integratorId: client.integratorId } as const;
    const changed = await changeRow(client, after, now, record, change);
    return { clientId: id, name: client.name, disabledAt: client.disabledAt, changed };
  });

const lockClient = (context: ChangeContext, em: EntityManager, id: string): Promise<OAuthClient> =>
  lockRequiredRow(context, em, OAuthClient, 'client', id);

async function addSecret(em: EntityManager, clientId: string, createdAt: string) {
  const secret = newSecret();
  const id = await em.insert(ClientSecret, { clientId, digest: hashSecret(secret), createdAt });
  return { id: Number(id), secret };
}
