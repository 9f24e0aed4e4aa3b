import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { GRANTS, type Grant, OAuthClient } from '../../entities/oauth-client.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { INTERNAL_SCOPES, SCOPES, type Scope } from '../../schema/scopes.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { hashSecret } from '../shared/secrets.ts';
import { HISTORY_DAYS, toBaseDay } from './dates.ts';
import { generateBuilder } from './generator-context.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';
import { toEmail } from './staff.ts';

/** Number of demo builders in each region. */
export const BUILDERS: Record<RegionId, number> = { au1: 4, us1: 1 };

const AT = toBaseDay(-HISTORY_DAYS);
const DATES = { createdAt: AT, updatedAt: AT };
const CALLBACK = 'http://127.0.0.1:8976/callback';
const PUBLIC_CALLBACK = 'http://127.0.0.1:8977/callback';
const AGREEMENT = 'DEMO-PILOT-1';

interface DemoIntegrator {
  /** Name by which tests and documents call it. */
  name: string;
  /** Name in the database where there is a recent scenario, which people look at. */
  company: string;
  region: RegionId;
  /** Indexes of the builders that it is connected to. */
  builderIndexes: number[];
}

const INTEGRATORS: DemoIntegrator[] = [
  { name: 'A', company: 'TurnGate Access', region: 'au1', builderIndexes: [0, 1] },
  { name: 'B', company: 'Ledgerline Payroll', region: 'au1', builderIndexes: [2] },
  { name: 'C', company: 'Fieldnote Reports', region: 'au1', builderIndexes: [0] },
  { name: 'D', company: 'Plumbline Sync', region: 'us1', builderIndexes: [0] },
];

interface Account {
  name: string;
  /** Name of its integrator; null for an internal client. */
  integrator: string | null;
  region: RegionId;
  type: 'confidential' | 'public' | 'internal';
  grants: readonly Grant[];
  scopes: readonly Scope[];
  redirectUris: string[];
}

const full = { type: 'confidential', grants: GRANTS, scopes: SCOPES, redirectUris: [CALLBACK] } as const;
const without = (scope: Scope) => SCOPES.filter((other) => other !== scope);
const reads = SCOPES.filter((scope) => scope.startsWith('read:'));

const account = (name: string, integrator: string | null, region: RegionId, more: Partial<Account> = {}): Account => {
  return { name, integrator, region, ...full, redirectUris: [CALLBACK], ...more };
};

/** Every client of the demo, by the names that the tests and the documentation call them. */
export const ACCOUNTS: Account[] = [
  account('A', 'A', 'au1'),
  account('B', 'B', 'au1'),
  account('C', 'C', 'au1'),
  account('A without read:timesheets', 'A', 'au1', { scopes: without('read:timesheets') }),
  account('A public', 'A', 'au1', {
    type: 'public',
    grants: ['authorization_code', 'refresh_token'],
    // Gate events are sent by a server, under the pilot agreement.
    scopes: without('write:sign_on_events'),
    redirectUris: [PUBLIC_CALLBACK],
  }),
  account('internal', null, 'au1', {
    type: 'internal',
    grants: ['client_credentials'],
    scopes: [...reads, ...INTERNAL_SCOPES],
    redirectUris: [],
  }),
  account('us1', 'D', 'us1'),
];

interface UserAccount {
  name: string;
  role: string;
  region: RegionId;
  builderIndexes: number[];
}

/** Users who can sign in. */
export const USERS: UserAccount[] = [
  { name: 'Robin Walsh', role: 'PROJECT_MANAGER', region: 'au1', builderIndexes: [0] },
  { name: 'Alex Nguyen', role: 'ADMIN', region: 'au1', builderIndexes: [0, 1] },
  { name: 'Casey Brooks', role: 'ADMIN', region: 'us1', builderIndexes: [0] },
];

interface StaffAccount {
  name: string;
  staffRole: NonNullable<User['staffRole']>;
  regions: readonly RegionId[];
}

/** Staff users, who can sign in to the console. */
export const STAFF: StaffAccount[] = [
  { name: 'Morgan Reid', staffRole: 'VIEWER', regions: ['au1'] },
  { name: 'Jordan Ellis', staffRole: 'OPERATOR', regions: ['au1'] },
  { name: 'Taylor Quinn', staffRole: 'ADMIN', regions: REGIONS },
];

const toBuilderIds = ({ region, builderIndexes }: { region: RegionId; builderIndexes: number[] }) =>
  builderIndexes.map((index) => generateBuilder(region, index).id);

const findIntegratorByName = (name: string | null) => INTEGRATORS.find((integrator) => integrator.name === name)!;

export const createIntegratorId = (integrator: string) => new Random('integrator', integrator).id('integrator', AT);
export const createClientId = ({ name }: Account) => new Random('client', name).id('client', AT);
export const createUserId = ({ name }: { name: string }) => new Random('user', name).id('user', AT);
export const createEmailAddress = ({ name, region, builderIndexes }: UserAccount) =>
  toEmail(name, generateBuilder(region, builderIndexes[0]!).domain);

export const createStaffEmail = ({ name }: StaffAccount) => toEmail(name, 'operator.example');

/** Lists the ids of the builders that a client or user can access; for an internal client, all of its region. */
export function listBuilderIds(who: Account | UserAccount): string[] {
  if ('builderIndexes' in who) return toBuilderIds(who);
  if (who.integrator !== null) return toBuilderIds(findIntegratorByName(who.integrator));
  return toBuilderIds({ region: who.region, builderIndexes: [...Array(BUILDERS[who.region]).keys()] });
}

/** Returns the id of the integrator that syncs a builder's records: the first that is connected to it; null if there is none. */
export function findIntegrator(region: RegionId, index: number): string | null {
  const integrator = INTEGRATORS.find((other) => other.region === region && other.builderIndexes.includes(index));
  return integrator ? createIntegratorId(integrator.name) : null;
}

/** Credentials of a region: client secrets by client id, password hashes by user id. */
export interface Credentials {
  secrets: ReadonlyMap<string, string>;
  passwordHashes: ReadonlyMap<string, string>;
}

/** Creates the rows of integrators, clients, connections, users and memberships. */
export function createAccountRows(
  region: RegionId,
  { secrets, passwordHashes }: Credentials,
  hasScenario: boolean,
): Rows {
  const rows = new Rows();
  const inRegion = <T extends { region: RegionId }>(all: T[]) => all.filter((one) => one.region === region);
  for (const integrator of inRegion(INTEGRATORS)) {
    const integratorId = createIntegratorId(integrator.name);
    const name = hasScenario ? integrator.company : integrator.name;
    rows.add(Integrator, { id: integratorId, ...DATES, name, deepLinkSchemes: [] });
    for (const builderId of toBuilderIds(integrator)) {
      rows.add(Connection, { ...DATES, integratorId, builderId, status: 'ACTIVE', scopes: [...SCOPES] });
    }
  }
  for (const client of inRegion(ACCOUNTS)) {
    addClient(rows, client, secrets.get(createClientId(client)));
  }
  for (const user of inRegion(USERS)) {
    const id = createUserId(user);
    const passwordHash = passwordHashes.get(id) ?? null;
    const { name, role } = user;
    rows.add(User, {
      id,
      ...DATES,
      name,
      email: createEmailAddress(user),
      passwordHash,
    });
    for (const builderId of toBuilderIds(user)) rows.add(Membership, { ...DATES, userId: id, builderId, role });
  }
  for (const staff of STAFF.filter(({ regions }) => regions.includes(region))) {
    const id = createUserId(staff);
    const { name, staffRole } = staff;
    const account = { name, email: createStaffEmail(staff), passwordHash: passwordHashes.get(id) ?? null, staffRole };
    rows.add(User, { id, ...DATES, ...account });
  }
  return rows;
}

function addClient(rows: Rows, client: Account, secret: string | undefined): void {
  const id = createClientId(client);
  const isPublic = client.type === 'public';
  rows.add(OAuthClient, {
    id,
    ...DATES,
    integratorId: client.integrator && createIntegratorId(client.integrator),
    name: client.name,
    type: isPublic ? 'PUBLIC' : 'CONFIDENTIAL',
    internal: client.type === 'internal',
    grants: [...client.grants],
    scopes: [...client.scopes],
    redirectUris: client.redirectUris,
    origins: isPublic ? client.redirectUris.map((uri) => new URL(uri).origin) : [],
    pilotAgreement: client.scopes.includes('write:sign_on_events') ? AGREEMENT : null,
  });
  if (secret !== undefined) rows.add(ClientSecret, { clientId: id, digest: hashSecret(secret), createdAt: AT });
}
