import Fastify, { type FastifyInstance, type InjectOptions } from 'fastify';
import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { AccessTokenVerifier } from '../../src/auth/access-token-verifier.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { loadConfig } from '../../src/config.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { toApiError } from '../../src/database/errors.ts';
import { createFairShares } from '../../src/limits/fair-shares.ts';
import type { OAuthDependencies } from '../../src/oauth/dependencies.ts';
import { createOAuthPlugin } from '../../src/oauth/plugin.ts';
import { REGIONS, type RegionId } from '../../src/shared/regions.ts';
import { hashSecret, newSecret } from '../../src/shared/secrets.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { createDatabase } from '../setup/database.ts';
import { BASE_URL } from '../support/harness.ts';
import { useStarted } from '../support/use-started.ts';

export { BASE_URL };
/** Initial time of the fake clock. */
export const OAUTH_START = Date.UTC(2026, 2, 2, 7, 30);

/** A clock that tests set. */
export interface SettableClock {
  /** Milliseconds since the epoch. */
  at: number;
  now(): number;
}

export const createSettableClock = (at = OAUTH_START): SettableClock => ({
  at,
  now() {
    return this.at;
  },
});

/** The OAuth plugin in a Fastify instance of its own, with a database for each region. */
export interface OAuthService {
  app: FastifyInstance;
  databases: Databases;
  clock: SettableClock;
  tokens: AccessTokens;
  /** The verifier that the API uses. */
  tokenVerifier: AccessTokenVerifier;
  close(): Promise<void>;
}

/** Starts the OAuth service alone with new databases. */
export async function startOAuth(): Promise<OAuthService> {
  const [au1, us1] = await Promise.all(REGIONS.map(createRegionalDatabase));
  const databases: Databases = { au1: au1!.database, us1: us1!.database };
  const clock = createSettableClock();
  const tokens = new AccessTokens({ keys: [newSecret()], issuer: BASE_URL, clock });
  const tokenVerifier = new AccessTokenVerifier({ tokens, databases, clock });
  const app = await buildOAuthApp(databases, { tokens, clock, tokenVerifier });
  const close = async () => {
    await app.close();
    await Promise.all([au1!.close(), us1!.close()]);
  };
  return { app, databases, clock, tokens, tokenVerifier, close };
}

/** Starts the OAuth service for the tests of the file that calls it, or of its `describe`. */
export const useOAuth = (): OAuthService => useStarted(startOAuth, (service) => service.close());

/** Returns the function that signs logo URLs as the service does. */
function createLogoSigner(clock: SettableClock, baseUrl: string): OAuthDependencies['createLogoUrl'] {
  const config = loadConfig({ BASE_URL: baseUrl });
  const storages = openStorages(config, { secrets: [newSecret()], clock });
  return (region, key) => storages[region].createDownloadUrl(key);
}

/** Creates a Fastify instance with the OAuth plugin and an error handler equivalent to the service's. */
export async function buildOAuthApp(
  databases: Databases,
  {
    tokens,
    clock,
    tokenVerifier = new AccessTokenVerifier({ tokens, databases, clock }),
  }: Pick<OAuthService, 'tokens' | 'clock'> & { tokenVerifier?: AccessTokenVerifier },
  limitClient?: OAuthDependencies['limitClient'],
  baseUrl = BASE_URL,
) {
  const app = Fastify();
  app.setErrorHandler((thrown, _request, reply) => {
    const error = toApiError(thrown);
    return reply.code(error.status).headers(error.headers).send(error.body());
  });
  const createLogoUrl = createLogoSigner(clock, baseUrl);
  await app.register(
    createOAuthPlugin({
      databases,
      accessTokens: tokens,
      clock,
      shares: createFairShares(),
      tokenVerifier,
      baseUrl,
      limitClient,
      createLogoUrl,
    }),
  );
  return app;
}

/** Creates a migrated database with the integrator `intg_a`. */
export async function createRegionalDatabase(region: RegionId) {
  const { url, drop } = await createDatabase();
  const database = new Database(region, url);
  await database
    .fork()
    .insert(Integrator, { ...timestamps(OAUTH_START), id: 'intg_a', name: 'Site Sync', deepLinkSchemes: [] });
  const close = async () => {
    await database.close();
    await drop();
  };
  return { database, close };
}

/** Returns whether the API accepts a valid access token of `au1`: it is not revoked. */
export const isTokenLive = async ({ tokens, tokenVerifier }: OAuthService, token: string) =>
  tokenVerifier.isLive((await tokens.verify('au1', token))!, 'au1');

/** Values of the columns of `Timestamped`. */
export const timestamps = (at: number) => {
  const instant = new Date(at).toISOString();
  return { createdAt: instant, updatedAt: instant };
};

/** Anything with the databases to insert into. */
export type WithDatabases = Pick<OAuthService, 'databases'>;

/** Registers a client; by default confidential, with all scopes, in `au1`. */
export async function addClient(
  service: WithDatabases,
  id: string,
  options: Partial<OAuthClient> & { region?: RegionId; secrets?: string[] } = {},
): Promise<void> {
  const { region = 'au1', secrets = [], ...overrides } = options;
  const em = service.databases[region].fork();
  await em.insert(OAuthClient, {
    ...timestamps(OAUTH_START),
    id,
    integratorId: 'intg_a',
    name: `Client ${id}`,
    type: 'CONFIDENTIAL',
    internal: false,
    grants: ['client_credentials'],
    scopes: [...SCOPES],
    redirectUris: [],
    origins: [],
    pilotAgreement: null,
    disabledAt: null,
    ...overrides,
  });
  for (const [age, secret] of secrets.entries()) await addSecret(service, region, id, secret, OAUTH_START + age);
}

export async function addSecret(
  service: WithDatabases,
  region: RegionId,
  clientId: string,
  secret: string,
  at: number,
) {
  const createdAt = new Date(at).toISOString();
  await service.databases[region].fork().insert(ClientSecret, { clientId, digest: hashSecret(secret), createdAt });
}

/** Returns a `Basic` Authorization header. */
export const basicAuthorization = (clientId: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`;

/** Sends a token request: an object as JSON, text as form-encoded data. */
export async function postToken(
  app: FastifyInstance,
  body: object | string | Buffer,
  headers: Record<string, string> = {},
) {
  const isText = typeof body === 'string' || Buffer.isBuffer(body);
  const type = isText ? 'application/x-www-form-urlencoded' : 'application/json';
  const response = await app.inject({
    method: 'POST',
    url: '/oauth/token',
    headers: { 'content-type': type, ...headers },
    payload: isText ? body : JSON.stringify(body),
  } satisfies InjectOptions);
  return { status: response.statusCode, headers: response.headers, body: response.json() };
}
