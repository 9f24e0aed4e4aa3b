import { isDeepStrictEqual } from 'node:util';
import { LockMode } from '@mikro-orm/core';
import type { EntityManager } from '@mikro-orm/postgresql';
import { OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { WebhookDelivery } from '../../../entities/webhook-delivery.entity.ts';
import { WebhookEndpoint } from '../../../entities/webhook-endpoint.entity.ts';
import { WebhookProgress } from '../../../entities/webhook-progress.entity.ts';
import { newId } from '../../../schema/ids.ts';
import type { WebhookDisabledReason } from '../../../schema/webhook.scalars.ts';
import { acquireRecordLock } from '../../database/write/advisory-lock.ts';
import { conflict, insufficientScope, notFound } from '../../shared/errors.ts';
import { InvalidInputError } from '../access/invalid-input-error.ts';
import { recordAudit } from '../audit/record-audit.ts';
import { inTransaction, requireRow } from '../change-context.ts';
import { requireUnchanged } from '../edit-conflicts.ts';
import { readHead } from '../events/event-log.ts';
import { checkEndpointInput, type EndpointChanges, type NewEndpoint, toFilter } from './endpoint-input.ts';
import { CANNOT_RECEIVE, findStoredEndpoints, toEndpointEntity, toShownEndpoint } from './list-endpoints.ts';
import { UnknownKeyError } from './secret-box.ts';
import { newWebhookSecret } from './signature.ts';
import type { EndpointKey, WebhookChangeContext, WebhookContext } from './webhook-context.ts';

/** Maximum endpoints of an integrator in a region (WHK-3). */
export const MAX_ENDPOINTS = 20;

/** Milliseconds after a rotation in which deliveries are also signed with the previous secret (WHK-5). */
const PREVIOUS_SECRET_MS = 24 * 3_600_000;

/** Secrets that sign at most, the newest included (WHK-5). */
const MAX_SECRETS = 3;

/** Owner of a new endpoint. */
interface EndpointOwner {
  integratorId: string;
  clientId: string;
}

/** Returns the owner of an endpoint that the client creates. Throws `InvalidInputError` for a client that no integrator has. */
export async function findOwner(context: WebhookContext, id: string): Promise<EndpointOwner> {
  const { grants, integratorId } = await requireRow(context, context.database.fork(), OAuthClient, 'client', id);
  if (integratorId === null || !grants.includes('client_credentials')) {
    throw new InvalidInputError('clientId', 'is not a client-credentials client of an integrator');
  }
  return { clientId: id, integratorId };
}

/** An endpoint with the secret that its receiver verifies deliveries with. */
export interface EndpointWithSecret {
  endpoint: WebhookEndpoint;
  /** Null when the endpoint existed already: a secret is returned once (WHK-4). */
  secret: string | null;
}

/**
 * Creates an endpoint, which receives the events from now on. The same request again returns the endpoint that is there, without its
 * secret (WHK-4). Throws a `ValidationError` for input that cannot be used and a conflict for more than 20 endpoints.
 */
export async function createEndpoint(
  context: WebhookChangeContext,
  owner: EndpointOwner,
  input: NewEndpoint,
): Promise<EndpointWithSecret> {
  const { clock, database, webhooks } = context;
  const fields = { url: input.url, types: toFilter(input.types), builderIds: toFilter(input.builderIds) };
  return inTransaction(context, async (em, now, record) => {
    await checkEndpointInput(context, em, owner.integratorId, input);
    await acquireRecordLock(em, `webhook endpoints ${owner.integratorId}`);
    const existing = await findStoredEndpoints(em, [owner.integratorId]);
    const same = existing.find((each) => each.clientId === owner.clientId && isSame(each, fields));
    if (same) return { endpoint: await toShownEndpoint(em, same), secret: null };
    if (existing.length >= MAX_ENDPOINTS) {
      throw conflict('WEBHOOK_ENDPOINT_LIMIT', `An integrator may have ${MAX_ENDPOINTS} webhook endpoints.`);
    }
    const { day, number } = await readHead(database);
    const id = newId('webhookEndpoint', clock.now());
    const secret = newWebhookSecret();
    const endpoint = toEndpointEntity({
      id,
      ...owner,
      ...fields,
      status: 'ACTIVE',
      disabledReason: null,
      secret: webhooks.secrets.encrypt(secret, id),
      previousSecrets: [],
      deletedAt: null,
      createdAt: now,
      updatedAt: now,
    });
    await em.insert(WebhookEndpoint, endpoint);
    await em.insert(WebhookProgress, { endpointId: id, day, number: String(number) } as WebhookProgress);
    const { integratorId } = owner;
    await record({
      action: 'webhook_endpoint.created',
      objectId: id,
      integratorId,
      after: toAuditedEndpoint(endpoint),
    });
    return { endpoint: await toShownEndpoint(em, endpoint), secret };
  });
}

/** Returns the recorded properties of an endpoint. Of the URL it is the origin, because paths and queries of receivers may be secret. */
const toAuditedEndpoint = ({ integratorId, clientId, url, types, builderIds, status }: WebhookEndpoint) => ({
  integratorId,
  clientId,
  receiver: new URL(url).origin,
  types,
  builderIds,
  status,
});

const isSame = ({ url, types, builderIds }: WebhookEndpoint, other: object) =>
  isDeepStrictEqual({ url, types, builderIds }, other);

/** Returns the endpoint; throws `NOT_FOUND`. */
export async function getEndpoint({ database }: WebhookContext, key: EndpointKey): Promise<WebhookEndpoint> {
  const em = database.fork();
  return toShownEndpoint(em, await requireEndpoint(em, key));
}

/**
 * Changes an endpoint. `ACTIVE` also ends a disablement; the delivery continues where it stopped (WHK-6).
 */
export async function updateEndpoint(
  context: WebhookChangeContext,
  key: EndpointKey,
  changes: EndpointChanges,
): Promise<WebhookEndpoint> {
  return inTransaction(context, async (em, now, record) => {
    const endpoint = await lockEndpoint(context, em, key);
    await checkEndpointInput(context, em, endpoint.integratorId, changes);
    const before = toAuditedEndpoint(endpoint);
    const { id: objectId, integratorId, url } = endpoint;
    if (changes.url !== undefined) endpoint.url = changes.url;
    if (changes.types !== undefined) endpoint.types = toFilter(changes.types);
    if (changes.builderIds !== undefined) endpoint.builderIds = toFilter(changes.builderIds);
    if (changes.status === 'ACTIVE') await requireEnabledClient(em, endpoint);
    if (changes.status != null) Object.assign(endpoint, { status: changes.status, disabledReason: null });
    endpoint.updatedAt = now;
    const after = toAuditedEndpoint(endpoint);
    if (endpoint.url !== url || !isDeepStrictEqual(after, before)) {
      await record({ action: 'webhook_endpoint.updated', objectId, integratorId, before, after });
    }
    // The receiver may be another one, or repaired: it is tried at once.
    if (changes.url !== undefined || changes.status === 'ACTIVE') {
      const reset = { failures: 0, failingSince: null, suspendedUntil: null };
      await em.nativeUpdate(WebhookProgress, { endpointId: objectId }, reset);
      const waiting = { endpointId: objectId, status: 'PENDING', nextAttemptAt: { $gt: now } } as const;
      await em.nativeUpdate(WebhookDelivery, waiting, { nextAttemptAt: now });
    }
    return toShownEndpoint(em, endpoint);
  });
}

/** Throws a conflict while the client that created the endpoint receives nothing (WHK-7). */
async function requireEnabledClient(em: EntityManager, { clientId }: WebhookEndpoint): Promise<void> {
  if (await em.findOne(OAuthClient, { id: clientId, ...CANNOT_RECEIVE }, { fields: ['id'] })) {
    throw conflict('CLIENT_DISABLED', 'The client that created the endpoint is disabled.');
  }
}

/** Disables an endpoint after a response of its receiver, unless it was disabled or got another URL meanwhile (WHK-11). */
export async function disableEndpoint(
  { clock, database }: WebhookContext,
  { id, url }: Pick<WebhookEndpoint, 'id' | 'url'>,
  reason: WebhookDisabledReason,
): Promise<void> {
  await database.transaction(async (em) => {
    const where = { id, url, status: { $ne: 'DISABLED' as const }, deletedAt: null };
    const endpoint = await em.findOne(WebhookEndpoint, where, { lockMode: LockMode.PESSIMISTIC_WRITE });
    if (!endpoint) return;
    const { status, integratorId } = endpoint;
    const at = new Date(clock.now()).toISOString();
    Object.assign(endpoint, { status: 'DISABLED', disabledReason: reason, updatedAt: at });
    await recordAudit(em, {
      actor: { type: 'JOB', id: 'deliver events' },
      origin: {},
      at,
      action: 'webhook_endpoint.disabled',
      objectId: id,
      integratorId,
      before: { status, disabledReason: null },
      after: { status: 'DISABLED', disabledReason: reason },
    });
  });
}

/** Deletes an endpoint; its pending deliveries are not made. A job removes the rows. */
export const deleteEndpoint = (context: WebhookChangeContext, key: EndpointKey): Promise<WebhookEndpoint> =>
  inTransaction(context, async (em, now, record) => {
    const endpoint = await lockEndpoint(context, em, key);
    endpoint.deletedAt = now;
    const { id: objectId, integratorId } = endpoint;
    await record({ action: 'webhook_endpoint.deleted', objectId, integratorId, before: toAuditedEndpoint(endpoint) });
    return toShownEndpoint(em, endpoint);
  });

/** Gives an endpoint a new secret. For 24 hours deliveries are also signed with the previous one, with the three newest at most (WHK-5). */
export async function rotateEndpointSecret(
  context: WebhookChangeContext,
  key: EndpointKey,
): Promise<EndpointWithSecret> {
  const { clock, webhooks } = context;
  return inTransaction(context, async (em, now, record) => {
    const endpoint = await lockEndpoint(context, em, key);
    const { id: objectId, integratorId } = endpoint;
    const secret = newWebhookSecret();
    // A secret that cannot be decrypted signs nothing, and would keep the new one from signing too.
    const previous = { secret: endpoint.secret, until: new Date(clock.now() + PREVIOUS_SECRET_MS).toISOString() };
    endpoint.previousSecrets = [previous, ...endpoint.previousSecrets]
      .filter((each) => webhooks.secrets.keyOf(each.secret) !== 'UNKNOWN' && clock.now() < Date.parse(each.until))
      .slice(0, MAX_SECRETS - 1);
    endpoint.secret = webhooks.secrets.encrypt(secret, objectId);
    endpoint.updatedAt = now;
    const after = { previousSecretUntil: endpoint.previousSecrets[0]?.until ?? null };
    await record({ action: 'webhook_endpoint.secret_rotated', objectId, integratorId, after });
    return { endpoint: await toShownEndpoint(em, endpoint), secret };
  });
}

/** Returns the stored secrets that sign at the time, in milliseconds since the Unix epoch, the newest first. */
export const listSigningSecrets = (
  { secret, previousSecrets }: Pick<WebhookEndpoint, 'secret' | 'previousSecrets'>,
  now: number,
): string[] => [secret, ...previousSecrets.filter(({ until }) => now < Date.parse(until)).map((each) => each.secret)];

/** Returns the secrets that sign a delivery now, the newest first. Throws a conflict where no configured key decrypts one of them. */
export function signingSecrets(
  { clock, webhooks }: Pick<WebhookContext, 'clock' | 'webhooks'>,
  endpoint: WebhookEndpoint,
): string[] {
  try {
    return listSigningSecrets(endpoint, clock.now()).map((stored) => webhooks.secrets.decrypt(stored, endpoint.id));
  } catch (error) {
    if (!(error instanceof UnknownKeyError)) throw error;
    const message = 'The service cannot read the signing secret of the endpoint any more. Rotate the secret.';
    throw conflict('WEBHOOK_SECRET_UNREADABLE', message);
  }
}

/**
 * Returns the endpoint as it is stored, to one who may manage it; throws `NOT_FOUND`, and `INSUFFICIENT_SCOPE` to a caller without a scope
 * that its client has: what the endpoint receives would reach the caller (WHK-2).
 */
export async function requireManageableEndpoint(
  em: EntityManager,
  key: EndpointKey,
  lockMode?: LockMode,
): Promise<WebhookEndpoint> {
  const endpoint = await requireEndpoint(em, key, lockMode);
  if (key.scopes) {
    const { scopes } = await em.findOneOrFail(OAuthClient, { id: endpoint.clientId }, { fields: ['scopes'] });
    const missing = scopes.filter((scope) => !key.scopes!.has(scope)).sort();
    if (missing.length > 0) {
      const message = `The endpoint receives what its client may read. Managing it needs its scopes, of which these are missing: ${missing.join(' ')}.`;
      throw insufficientScope(missing.join(' '), message);
    }
  }
  return endpoint;
}

/** Returns the endpoint as it is stored; throws `NOT_FOUND`. */
export async function requireEndpoint(
  em: EntityManager,
  key: EndpointKey,
  lockMode?: LockMode,
): Promise<WebhookEndpoint> {
  const { endpointId: id, integratorId } = key;
  const where = { id, ...(integratorId !== undefined && { integratorId }), deletedAt: null };
  const endpoint = await em.findOne(WebhookEndpoint, where, { lockMode });
  if (!endpoint) throw notFound('Webhook endpoint');
  return endpoint;
}

/** Returns the endpoint, which no one else changes until the end of the transaction. */
export async function lockEndpoint(
  context: WebhookContext,
  em: EntityManager,
  key: EndpointKey,
): Promise<WebhookEndpoint> {
  const endpoint = await requireManageableEndpoint(em, key, LockMode.PESSIMISTIC_WRITE);
  await requireUnchanged(context, em, endpoint, endpoint.id);
  return endpoint;
}
