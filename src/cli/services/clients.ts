import type { EntityManager } from '@mikro-orm/postgresql';
import { ClientSecret } from '../../../entities/client-secret.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { type ClientType, GRANTS, type Grant, OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { INTERNAL_SCOPES } from '../../../schema/scopes.ts';
import { newId } from '../../shared/ids.ts';
import { digestOf, newSecret, VALID_SECRETS } from '../../shared/secrets.ts';
import { refuse } from '../cli-error.ts';
import { browserOrigin, identifier, oneLine, redirectUri, scopes } from './checks.ts';
import { existing, inTransaction, lockRow, type Place } from './command-context.ts';

export interface NewClient {
  /** The integrator that it belongs to; an internal client has none. */
  integratorId?: string;
  internal: boolean;
  name: string;
  type: ClientType;
  /** Empty for every grant that its type may use. */
  grants: string[];
  /** Each may hold several scopes with spaces between. */
  scopes: string[];
  redirectUris: string[];
  origins: string[];
  pilotAgreement?: string;
}

/** Registers credentials. Client types: OAU-1. Internal clients: ACC-16. */
export async function createClient(place: Place, request: NewClient) {
  const client = { ...checkOwner(request), ...checkFlow(request), ...checkScopes(request) };
  return inTransaction(place, async (em, now) => {
    const { integratorId } = client;
    if (integratorId !== null) {
      await existing(place, em, Integrator, { option: '--integrator', what: 'integrator', id: integratorId });
    }
    const id = newId('client', place.clock.now());
    await em.insert(OAuthClient, { id, ...client, disabledAt: null, createdAt: now, updatedAt: now });
    const clientSecret = client.type === 'CONFIDENTIAL' ? await addSecret(em, id, now) : null;
    return { clientId: id, clientSecret, ...client, type: client.type.toLowerCase(), createdAt: now };
  });
}

/** Adds a secret. The newest two are valid, so that the application can change over; older ones are dropped. */
export async function rotateSecret(place: Place, id: string) {
  return inTransaction(place, async (em, now) => {
    const client = await lockClient(place, em, id);
    if (client.type === 'PUBLIC') refuse('CLIENT', `${id} is a public client and has no secret`);
    const secrets = await em.find(ClientSecret, { clientId: id }, { orderBy: { createdAt: 'desc', id: 'desc' } });
    // Where another machine's clock was ahead, the new secret still has to be the newest.
    const newest = Math.max(Date.parse(secrets[0]?.createdAt ?? now), place.clock.now());
    const clientSecret = await addSecret(em, id, new Date(newest).toISOString());
    const dropped = secrets.slice(VALID_SECRETS - 1);
    for (const secret of dropped) em.remove(secret);
    client.updatedAt = now;
    return { clientId: id, clientSecret, validSecrets: secrets.length - dropped.length + 1, dropped: dropped.length };
  });
}

/** Ends a client's access, whatever tokens it holds. */
export const disableClient = (place: Place, id: string) => switchClient(place, id, false);

/** Gives a disabled client its access back. */
export const enableClient = (place: Place, id: string) => switchClient(place, id, true);

async function switchClient(place: Place, id: string, enabled: boolean) {
  return inTransaction(place, async (em, now) => {
    const client = await lockClient(place, em, id);
    const changed = (client.disabledAt === null) !== enabled;
    if (changed) {
      client.disabledAt = enabled ? null : now;
      client.updatedAt = now;
    }
    return { clientId: id, name: client.name, disabledAt: client.disabledAt, changed };
  });
}

async function lockClient({ database }: Place, em: EntityManager, id: string): Promise<OAuthClient> {
  const client = await lockRow(em, OAuthClient, { id: identifier('CLIENT', 'client', id) });
  return client ?? refuse('CLIENT', `there is no client ${id} in ${database.region}`);
}

async function addSecret(em: EntityManager, clientId: string, createdAt: string): Promise<string> {
  const secret = newSecret();
  await em.insert(ClientSecret, { clientId, digest: digestOf(secret), createdAt });
  return secret;
}

function checkOwner({ integratorId, internal, name, type }: NewClient) {
  if (internal && integratorId !== undefined) refuse('--internal', 'an internal client belongs to no integrator');
  if (internal && type === 'PUBLIC') refuse('--type', 'an internal client is confidential');
  if (!internal && integratorId === undefined) refuse('--integrator', 'is needed, or --internal');
  return {
    integratorId: integratorId === undefined ? null : identifier('--integrator', 'integrator', integratorId),
    internal,
    name: oneLine('--name', name),
    type,
  };
}

/** The grants of a client that names none: a confidential client may use every grant, a public one must sign people in. */
function everyGrantOf({ internal, type }: Pick<NewClient, 'internal' | 'type'>): Grant[] {
  if (internal) return ['client_credentials'];
  return type === 'PUBLIC' ? ['authorization_code', 'refresh_token'] : [...GRANTS];
}

function checkFlow({ internal, type, grants: texts, redirectUris, origins }: NewClient) {
  const unknown = texts.find((text) => !(GRANTS as readonly string[]).includes(text));
  if (unknown !== undefined) refuse('--grant', `"${unknown}" is no grant; there are ${GRANTS.join(' ')}`);
  const grants =
    texts.length === 0 ? everyGrantOf({ internal, type }) : GRANTS.filter((grant) => texts.includes(grant));
  const forPeople = grants.includes('authorization_code');
  // Registered for every grant, a confidential client uses the code flow once it has a redirect URI.
  const needsRedirect = forPeople && (type === 'PUBLIC' || texts.length > 0);
  if (type === 'PUBLIC' && grants.includes('client_credentials')) {
    refuse('--grant', 'client_credentials is for confidential clients');
  }
  if (internal && grants.some((grant) => grant !== 'client_credentials')) {
    refuse('--grant', 'an internal client uses client_credentials alone');
  }
  if (grants.includes('refresh_token') && !forPeople) refuse('--grant', 'refresh_token needs authorization_code');
  if (needsRedirect && redirectUris.length === 0) refuse('--redirect-uri', 'authorization_code needs at least one');
  if (!forPeople && redirectUris.length > 0) refuse('--redirect-uri', 'is of no use without authorization_code');
  if (type !== 'PUBLIC' && origins.length > 0) refuse('--origin', 'only a public client runs in browsers');
  return {
    grants,
    redirectUris: [...new Set(redirectUris.map(redirectUri))],
    origins: [...new Set(origins.map(browserOrigin))],
  };
}

function checkScopes({ internal, scopes: texts, pilotAgreement }: NewClient) {
  const allowed = scopes(texts);
  const reserved = allowed.find((scope) => (INTERNAL_SCOPES as readonly string[]).includes(scope));
  if (reserved && !internal) refuse('--scope', `${reserved} is for internal clients`);
  const inPilot = allowed.includes('write:sign_on_events');
  if (inPilot && pilotAgreement === undefined) refuse('--pilot-agreement', 'write:sign_on_events needs its reference');
  if (!inPilot && pilotAgreement !== undefined) refuse('--pilot-agreement', 'is only for write:sign_on_events');
  return {
    scopes: allowed,
    pilotAgreement: pilotAgreement === undefined ? null : oneLine('--pilot-agreement', pilotAgreement),
  };
}
