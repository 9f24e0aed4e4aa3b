import type { EntityManager } from '@mikro-orm/postgresql';
import { ClientSecret } from '../../../entities/client-secret.entity.ts';
import { Integrator } from '../../../entities/integrator.entity.ts';
import { type ClientType, GRANTS, type Grant, OAuthClient } from '../../../entities/oauth-client.entity.ts';
import { INTERNAL_SCOPES } from '../../../schema/scopes.ts';
import { newId } from '../../shared/ids.ts';
import { digestOf, newSecret, VALID_SECRETS } from '../../shared/secrets.ts';
import { CliError } from '../cli-error.ts';
import { parseId, parseOrigin, parseRedirectUri, parseScopes, requireSingleLine } from './argument-parsers.ts';
import { type CommandContext, inTransaction, lockRow, requireRow } from './command-context.ts';

export interface NewClient {
  /** Absent for an internal client. */
  integratorId?: string;
  internal: boolean;
  name: string;
  type: ClientType;
  /** Empty for every grant that the type allows. */
  grants: string[];
  /** Each text holds one or more scopes, separated by spaces. */
  scopes: string[];
  redirectUris: string[];
  origins: string[];
  pilotAgreement?: string;
}

/** Registers an OAuth client. The secret of a confidential client is returned once and stored as a digest. OAU-1, ACC-16. */
export async function createClient(context: CommandContext, request: NewClient) {
  const client = { ...validateOwner(request), ...validateFlow(request), ...validateScopes(request) };
  return inTransaction(context, async (em, now) => {
    const { integratorId } = client;
    if (integratorId !== null) {
      await requireRow(context, em, Integrator, { option: '--integrator', what: 'integrator', id: integratorId });
    }
    const id = newId('client', context.clock.now());
    await em.insert(OAuthClient, { id, ...client, disabledAt: null, createdAt: now, updatedAt: now });
    const clientSecret = client.type === 'CONFIDENTIAL' ? await addSecret(em, id, now) : null;
    return { clientId: id, clientSecret, ...client, type: client.type.toLowerCase(), createdAt: now };
  });
}

/** Adds a secret. The newest two stay valid, so that the application can switch without downtime; older ones are deleted. */
export async function rotateSecret(context: CommandContext, id: string) {
  return inTransaction(context, async (em, now) => {
    const client = await lockClient(context, em, id);
    if (client.type === 'PUBLIC') throw CliError.forOption('CLIENT', `${id} is a public client and has no secret`);
    const secrets = await em.find(ClientSecret, { clientId: id }, { orderBy: { createdAt: 'desc', id: 'desc' } });
    // The new secret must be the newest, even if the clock of another machine was ahead.
    const newest = Math.max(Date.parse(secrets[0]?.createdAt ?? now), context.clock.now());
    const clientSecret = await addSecret(em, id, new Date(newest).toISOString());
    const dropped = secrets.slice(VALID_SECRETS - 1);
    for (const secret of dropped) em.remove(secret);
    client.updatedAt = now;
    return { clientId: id, clientSecret, validSecrets: secrets.length - dropped.length + 1, dropped: dropped.length };
  });
}

/** Disables a client. Its tokens stop working. */
export const disableClient = (context: CommandContext, id: string) => setClientEnabled(context, id, false);

/** Enables a disabled client again. */
export const enableClient = (context: CommandContext, id: string) => setClientEnabled(context, id, true);

async function setClientEnabled(context: CommandContext, id: string, enabled: boolean) {
  return inTransaction(context, async (em, now) => {
    const client = await lockClient(context, em, id);
    const changed = (client.disabledAt === null) !== enabled;
    if (changed) {
      client.disabledAt = enabled ? null : now;
      client.updatedAt = now;
    }
    return { clientId: id, name: client.name, disabledAt: client.disabledAt, changed };
  });
}

async function lockClient({ database }: CommandContext, em: EntityManager, id: string): Promise<OAuthClient> {
  const client = await lockRow(em, OAuthClient, { id: parseId('CLIENT', 'client', id) });
  if (!client) throw CliError.forOption('CLIENT', `there is no client ${id} in ${database.region}`);
  return client;
}

async function addSecret(em: EntityManager, clientId: string, createdAt: string): Promise<string> {
  const secret = newSecret();
  await em.insert(ClientSecret, { clientId, digest: digestOf(secret), createdAt });
  return secret;
}

function validateOwner({ integratorId, internal, name, type }: NewClient) {
  if (internal && integratorId !== undefined)
    throw CliError.forOption('--internal', 'an internal client belongs to no integrator');
  if (internal && type === 'PUBLIC') throw CliError.forOption('--type', 'an internal client is confidential');
  if (!internal && integratorId === undefined) throw CliError.forOption('--integrator', 'is required, or --internal');
  return {
    integratorId: integratorId === undefined ? null : parseId('--integrator', 'integrator', integratorId),
    internal,
    name: requireSingleLine('--name', name),
    type,
  };
}

/** The grants of a client registered without `--grant`. A public client can only use the code flow. */
function defaultGrantsOf({ internal, type }: Pick<NewClient, 'internal' | 'type'>): Grant[] {
  if (internal) return ['client_credentials'];
  return type === 'PUBLIC' ? ['authorization_code', 'refresh_token'] : [...GRANTS];
}

function validateFlow({ internal, type, grants: texts, redirectUris, origins }: NewClient) {
  const unknown = texts.find((text) => !(GRANTS as readonly string[]).includes(text));
  if (unknown !== undefined)
    throw CliError.forOption('--grant', `"${unknown}" is not a grant; use ${GRANTS.join(' ')}`);
  const grants =
    texts.length === 0 ? defaultGrantsOf({ internal, type }) : GRANTS.filter((grant) => texts.includes(grant));
  const forPeople = grants.includes('authorization_code');
  // A confidential client registered without --grant uses the code flow once it has a redirect URI.
  const needsRedirect = forPeople && (type === 'PUBLIC' || texts.length > 0);
  if (type === 'PUBLIC' && grants.includes('client_credentials')) {
    throw CliError.forOption('--grant', 'client_credentials is for confidential clients');
  }
  if (internal && grants.some((grant) => grant !== 'client_credentials')) {
    throw CliError.forOption('--grant', 'an internal client only uses client_credentials');
  }
  if (grants.includes('refresh_token') && !forPeople)
    throw CliError.forOption('--grant', 'refresh_token requires authorization_code');
  if (needsRedirect && redirectUris.length === 0)
    throw CliError.forOption('--redirect-uri', 'authorization_code requires at least one');
  if (!forPeople && redirectUris.length > 0) throw CliError.forOption('--redirect-uri', 'requires authorization_code');
  if (type !== 'PUBLIC' && origins.length > 0)
    throw CliError.forOption('--origin', 'only a public client runs in browsers');
  return {
    grants,
    redirectUris: [...new Set(redirectUris.map(parseRedirectUri))],
    origins: [...new Set(origins.map(parseOrigin))],
  };
}

function validateScopes({ internal, scopes: texts, pilotAgreement }: NewClient) {
  const allowed = parseScopes(texts);
  const reserved = allowed.find((scope) => (INTERNAL_SCOPES as readonly string[]).includes(scope));
  if (reserved && !internal) throw CliError.forOption('--scope', `${reserved} is for internal clients`);
  const inPilot = allowed.includes('write:sign_on_events');
  if (inPilot && pilotAgreement === undefined)
    throw CliError.forOption('--pilot-agreement', 'is required for write:sign_on_events');
  if (!inPilot && pilotAgreement !== undefined)
    throw CliError.forOption('--pilot-agreement', 'is only for write:sign_on_events');
  return {
    scopes: allowed,
    pilotAgreement: pilotAgreement === undefined ? null : requireSingleLine('--pilot-agreement', pilotAgreement),
  };
}
