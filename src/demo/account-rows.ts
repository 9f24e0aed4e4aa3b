import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { LoggedRequest, UsageDay } from '../../entities/usage.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { hashPassword } from '../domain/access/passwords.ts';
import type { RegionId } from '../shared/regions.ts';
import { hashSecret } from '../shared/secrets.ts';
import { createClient, createIntegratorId, FOUNDED, FOUNDING, INTEGRATORS, listBuilderIds } from './accounts.ts';
import { type DemoClient, type DemoFile, selectAccounts } from './demo-file.ts';
import { DAY, iso, MINUTE } from './local-calendar.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';

const ACTIVE = 'ACTIVE' as const;

/** Creates the rows of a region's integrators, clients, connections, users and memberships. */
export async function createAccountRows(file: DemoFile, region: RegionId): Promise<Rows> {
  const rows = new Rows();
  for (const { name, company, builderIndexes } of INTEGRATORS.filter((one) => one.region === region)) {
    const integratorId = createIntegratorId(name);
    rows.add(Integrator, { id: integratorId, ...FOUNDING, name: company, deepLinkSchemes: [] });
    for (const builderId of listBuilderIds(region, builderIndexes)) {
      rows.add(Connection, { ...FOUNDING, integratorId, builderId, status: ACTIVE, scopes: [...SCOPES] });
    }
  }
  const { clients, users, staff } = selectAccounts(file, region);
  for (const client of clients) addClient(rows, client);
  const hashes = await Promise.all([...users, ...staff].map(({ password }) => hashPassword(password)));
  for (const { id, name, email, role, builderIds } of users) {
    rows.add(User, { id, ...FOUNDING, name, email, passwordHash: hashes.shift()! });
    for (const builderId of builderIds) rows.add(Membership, { ...FOUNDING, userId: id, builderId, role });
  }
  for (const { id, name, email, role: staffRole } of staff) {
    rows.add(User, { id, ...FOUNDING, name, email, passwordHash: hashes.shift()!, staffRole });
  }
  return rows;
}

function addClient(rows: Rows, { clientId, clientSecret, integrator, ...client }: DemoClient): void {
  rows.add(OAuthClient, {
    id: clientId,
    ...FOUNDING,
    integratorId: integrator && createIntegratorId(integrator),
    name: client.name,
    type: client.type === 'public' ? 'PUBLIC' : 'CONFIDENTIAL',
    internal: client.type === 'internal',
    grants: client.grants,
    scopes: client.scopes,
    redirectUris: client.redirectUris,
    origins: client.type === 'public' ? client.redirectUris.map((uri) => new URL(uri).origin) : [],
    pilotAgreement: client.scopes.includes('write:sign_on_events') ? 'DEMO-PILOT-1' : null,
  });
  if (clientSecret) rows.add(ClientSecret, { clientId, digest: hashSecret(clientSecret), createdAt: FOUNDED });
}

/** Days with requests of the limited integrator. */
const USAGE_DAYS = 14;

/** Adds an integrator that synchronizes photos, and whose connection to the first builder lacks the scope for them. */
export function addLimitedIntegrator(rows: Rows, now: number): void {
  const random = new Random('limited integrator');
  const name = 'SnapSite sync';
  const scopes = SCOPES.filter((scope) => scope !== 'write:sign_on_events');
  const client = { ...createClient(name, name, 'au1', { scopes }), clientSecret: null };
  const [integratorId, clientId] = [createIntegratorId(name), client.clientId];
  rows.add(Integrator, { id: integratorId, ...FOUNDING, name: 'SnapSite Photos', deepLinkSchemes: [] });
  addClient(rows, client);
  const [builderId] = listBuilderIds('au1') as [string];
  const allowed = scopes.filter((scope) => !scope.endsWith(':photos'));
  rows.add(Connection, { ...FOUNDING, integratorId, builderId, status: ACTIVE, scopes: allowed });
  const path = '/builders/{builderId}/photos';
  for (let day = 0; day <= USAGE_DAYS; day++) {
    const [requests, rejections] = [random.between(120, 260), random.between(20, 40)];
    const date = iso(now - day * DAY).slice(0, 10);
    rows.add(UsageDay, { integratorId, date, clientId, operation: `GET ${path}`, requests, rejections, failures: 0 });
  }
  const message = "The builder's connection does not allow read:photos.";
  const failure = { status: 403, code: 'INSUFFICIENT_SCOPE', message, errors: null };
  for (let minutes = 95; minutes > 0; minutes -= 10) {
    const [at, requestId] = [iso(now - minutes * MINUTE), `req-${random.digits(12)}`];
    const request = { requestId, at, integratorId, clientId, builderId, method: 'GET', path };
    rows.add(LoggedRequest, { ...request, ...failure, graphqlOperation: null, tool: null, durationMs: 4 });
  }
}
