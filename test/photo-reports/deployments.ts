import type { FastifyInstance } from 'fastify';
import { SCOPES } from '../../schema/scopes.ts';
import { buildApp } from '../../src/app.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { loadConfig } from '../../src/config.ts';
import { type CliHarness, startCli } from '../cli/cli-harness.ts';
import { BuilderClient } from '../support/builder-client.ts';
import { definition } from '../support/definition.ts';
import { BASE_URL, type Service, TOKEN_KEY } from '../support/harness.ts';

/** A deployment with its own databases and storage. */
export interface Deployment {
  operator: CliHarness;
  app: FastifyInstance;
}

export async function createDeployment(): Promise<Deployment> {
  const operator = await startCli();
  const off = { RATE_LIMIT_API: '0', RATE_LIMIT_SYNC: '0', RATE_LIMIT_TOKEN: '0', LOG_LEVEL: 'silent' };
  const config = loadConfig({ ...operator.env, ...off, BASE_URL, TOKEN_KEY });
  const { databases, clock } = operator;
  return {
    operator,
    app: await buildApp(config, { databases, clock, tokenKeys: [TOKEN_KEY], definition }),
  };
}

/** A new client of the integrator, connected to `buil_a`. */
export async function createConnectedClient(
  { operator, app }: Deployment,
  integratorId: string,
): Promise<BuilderClient> {
  const scopes = SCOPES.filter((scope) => scope !== 'write:sign_on_events').flatMap((scope) => ['--scope', scope]);
  const create = ['client', 'create', '--name', 'App', '--integrator', integratorId, ...scopes];
  const { clientId } = await operator.json(create);
  await operator.json(['connection', 'create', '--integrator', integratorId, '--builder', 'buil_a', ...scopes]);
  const tokens = new AccessTokens({ keys: [TOKEN_KEY], issuer: BASE_URL, clock: operator.clock });
  const { token } = await tokens.sign('au1', { sub: clientId, client_id: clientId, scope: SCOPES.join(' ') });
  return new BuilderClient(
    { request: (options: object) => app.inject(options) } as unknown as Service,
    token,
    'buil_a',
  );
}
