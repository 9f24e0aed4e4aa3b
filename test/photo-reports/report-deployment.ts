import { SCOPES } from '../../schema/scopes.ts';
import { startDeployment, startListening, type TestDeployment } from '../oauth/deployment.ts';
import { addBuilder, addUser } from '../oauth/fixtures.ts';
import { addClient, postToken } from '../oauth/service.ts';
import { BuilderClient } from '../support/builder-client.ts';
import type { Service } from '../support/harness.ts';

const SECRET = 'a-secret-of-this-test';

/**
 * Starts a deployment that listens, with the builder `buil_a`, its member `user_kim`, and a client with all scopes.
 *
 * @param now Time of the deployment's clock in milliseconds since the Unix epoch; without it, that of all deployments.
 */
export async function startReportDeployment({
  settings,
  now,
}: {
  settings?: Record<string, string>;
  now?: number;
} = {}): Promise<{ deployment: TestDeployment; client: BuilderClient }> {
  const deployment = await startDeployment(settings);
  if (now !== undefined) deployment.clock.at = now;
  const { app } = await startListening(deployment);
  await addBuilder(deployment, 'buil_a', { name: 'Harbour Constructions' });
  await addUser(deployment, 'user_kim', ['buil_a'], { name: 'Kim Nguyen' });
  await addClient(deployment, 'cli_a', { secrets: [SECRET] });
  const grant = { grant_type: 'client_credentials', audience: deployment.baseUrl, scope: SCOPES.join(' ') };
  const { body } = await postToken(app, { ...grant, client_id: 'cli_a', client_secret: SECRET });
  const service = { request: (options: object) => app.inject(options) } as unknown as Service;
  return { deployment, client: new BuilderClient(service, body.access_token, 'buil_a') };
}
