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
import { runPendingMigrations } from '../../src/database/run-migrations.ts';
import type { OAuthDependencies } from '../../src/oauth/dependencies.ts';
import { oauthPlugin } from '../../src/oauth/plugin.ts';
import { REGIONS, type RegionId } from '../../src/shared/regions.ts';
import { digestOf, newSecret } from '../../src/shared/secrets.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { createDatabase } from '../setup/database.ts';

export const BASE_URL = 'http://localhost:4000';
export const START = Date.UTC(2026, 2, 2, 7, 30);

export interface FakeClock {
  at: number;
  now(): number;
}

export const fakeClock = (at = START): FakeClock => ({
  at,
  now() {
    return this.at;
  },
});

/** The OAuth plugin alone on a bare Fastify, over a database for each region. */
export interface OAuthService {
  app: FastifyInstance;
  databases: Databases;
  clock: FakeClock;
  tokens: AccessTokens;
  /** As the API asks it. */
  access: AccessTokenVerifier;
  close(): Promise<void>;
}

export async function startOAuth(): Promise<OAuthService> {
  const [au1, us1] = await Promise.all(REGIONS.map(regionalDatabase));
  const databases: Databases = { au1: au1!.database, us1: us1!.database };
  const clock = fakeClock();
  const tokens = new AccessTokens({ key: newSecret(), issuer: BASE_URL, clock });
  const access = new AccessTokenVerifier({ tokens, databases, clock });
  const app = await buildApp(databases, { tokens, clock, access });
  const close = async () => {
    await app.close();
    await Promise.all([au1!.close(), us1!.close()]);
  };
  return { app, databases, clock, tokens, access, close };
}

/** Signs logo URLs as the service does. */
function logoSigner(clock: FakeClock, baseUrl: string): OAuthDependencies['logoUrl'] {
  const config = loadConfig({ BASE_URL: baseUrl });
  const storages = openStorages(config, { secret: newSecret(), clock });
  return (region, key) => storages[region].downloadUrl(key);
}

/** A bare Fastify whose error handler stands for the service's own. */
export async function buildApp(
  databases: Databases,
  { tokens, clock, access }: Pick<OAuthService, 'tokens' | 'clock'> & { access?: AccessTokenVerifier },
  limitClient?: OAuthDependencies['limitClient'],
  prepare: (app: FastifyInstance) => PromiseLike<unknown> | undefined = () => undefined,
  baseUrl = BASE_URL,
) {
  const app = Fastify();
  await prepare(app);
  app.setErrorHandler((thrown, _request, reply) => {
    const error = toApiError(thrown);
    return reply.code(error.status).headers(error.headers).send(error.body());
  });
  const live = access ?? new AccessTokenVerifier({ tokens, databases, clock });
  const logoUrl = logoSigner(clock, baseUrl);
  await app.register(
    oauthPlugin({ databases, accessTokens: tokens, clock, tokenVerifier: live, baseUrl, limitClient, logoUrl }),
  );
  return app;
}

export async function regionalDatabase(region: RegionId) {
  const { url, drop } = await createDatabase('template1');
  const database = new Database(region, url);
  await runPendingMigrations(database, 'auto');
  await database.fork().insert(Integrator, { ...stamps(START), id: 'intg_a', name: 'Site Sync', deepLinkSchemes: [] });
  const close = async () => {
    await database.close();
    await drop();
  };
  return { database, close };
}

const stamps = (at: number) => {
  const instant = new Date(at).toISOString();
  return { createdAt: instant, updatedAt: instant };
};

/** Where rows are put. */
export type Place = Pick<OAuthService, 'databases'>;

/** Registers a client: confidential, with all scopes, in `au1`, unless told otherwise. */
export async function addClient(
  service: Place,
  id: string,
  options: Partial<OAuthClient> & { region?: RegionId; secrets?: string[] } = {},
): Promise<void> {
  const { region = 'au1', secrets = [], ...overrides } = options;
  const em = service.databases[region].fork();
  await em.insert(OAuthClient, {
    ...stamps(START),
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
  for (const [age, secret] of secrets.entries()) await addSecret(service, region, id, secret, START + age);
}

export async function addSecret(service: Place, region: RegionId, clientId: string, secret: string, at: number) {
  const createdAt = new Date(at).toISOString();
  await service.databases[region].fork().insert(ClientSecret, { clientId, digest: digestOf(secret), createdAt });
}

export const basic = (clientId: string, secret: string) =>
  `Basic ${Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString('base64')}`;

/** Sends a token request: an object as JSON, text as a form. */
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
