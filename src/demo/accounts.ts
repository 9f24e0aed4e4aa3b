import { GRANTS, type Grant } from '../../entities/oauth-client.entity.ts';
import type { User } from '../../entities/user.entity.ts';
import { INTERNAL_SCOPES, SCOPES, type Scope } from '../../schema/scopes.ts';
import { mapRegions, type RegionId } from '../shared/regions.ts';
import { Random } from './random.ts';
import { LOCALES } from './words.ts';

/** When accounts, builders, and the project and workers for trying gates were made: their ids do not depend on the day of loading. */
export const FOUNDED = '2024-06-01T00:00:00.000Z';
export const FOUNDING = { createdAt: FOUNDED, updatedAt: FOUNDED };

/** Number of demo builders in each region. */
export const BUILDERS = mapRegions((region) => LOCALES[region].builders.length);

/** Generates the builder with this index in the region. */
export function generateBuilder(region: RegionId, index: number) {
  const { builders, timeZone } = LOCALES[region];
  const createdAt = new Date(Date.parse(FOUNDED) + index * 60_000).toISOString();
  const id = new Random(region, index, 'builder').id('builder', createdAt);
  return { id, createdAt, updatedAt: createdAt, name: builders[index]!, timeZone };
}

/** Returns the e-mail address of a person of a company. */
export const toEmail = (name: string, company: string) =>
  `${name.toLowerCase().replaceAll(' ', '.')}@${company.toLowerCase().replace(/[^a-z]+/g, '-')}.example`;

interface DemoIntegrator {
  /** Name by which tests and documents call it. */
  name: string;
  /** Name in the database. */
  company: string;
  region: RegionId;
  /** Indexes of the builders that it is connected to. */
  builderIndexes: number[];
}

export const INTEGRATORS: DemoIntegrator[] = [
  { name: 'A', company: 'TurnGate Access', region: 'au1', builderIndexes: [0, 1] },
  { name: 'B', company: 'Ledgerline Payroll', region: 'au1', builderIndexes: [2] },
  { name: 'C', company: 'Fieldnote Reports', region: 'au1', builderIndexes: [0] },
  { name: 'D', company: 'Plumbline Sync', region: 'us1', builderIndexes: [0] },
];

interface Account {
  name: string;
  /** Name of its integrator; null for an internal client. */
  integrator: string | null;
  regionId: RegionId;
  type: 'confidential' | 'public' | 'internal';
  grants: readonly Grant[];
  scopes: readonly Scope[];
  redirectUris: string[];
}

const without = (scope: Scope) => SCOPES.filter((other) => other !== scope);

function account(name: string, integrator: string | null, regionId: RegionId, more: Partial<Account> = {}): Account {
  const redirectUris = ['http://127.0.0.1:8976/callback'];
  return { name, integrator, regionId, type: 'confidential', grants: GRANTS, scopes: SCOPES, redirectUris, ...more };
}

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
    redirectUris: ['http://127.0.0.1:8977/callback'],
  }),
  account('internal', null, 'au1', {
    type: 'internal',
    grants: ['client_credentials'],
    scopes: [...SCOPES.filter((scope) => scope.startsWith('read:')), ...INTERNAL_SCOPES],
    redirectUris: [],
  }),
  account('us1', 'D', 'us1'),
];

/** Users who can sign in, with their role in each of the builders. */
export const USERS: { name: string; role: string; regionId: RegionId; builderIndexes: number[] }[] = [
  { name: 'Robin Walsh', role: 'PROJECT_MANAGER', regionId: 'au1', builderIndexes: [0] },
  { name: 'Alex Nguyen', role: 'ADMIN', regionId: 'au1', builderIndexes: [0, 1] },
  { name: 'Casey Brooks', role: 'ADMIN', regionId: 'us1', builderIndexes: [0] },
];

/** Staff users, who can sign in to the console. */
export const STAFF: { name: string; role: NonNullable<User['staffRole']>; regionIds: RegionId[] }[] = [
  { name: 'Morgan Reid', role: 'VIEWER', regionIds: ['au1'] },
  { name: 'Jordan Ellis', role: 'OPERATOR', regionIds: ['au1'] },
  { name: 'Taylor Quinn', role: 'ADMIN', regionIds: ['au1', 'us1'] },
];

export const createIntegratorId = (name: string) => new Random('integrator', name).id('integrator', FOUNDED);
export const createClientId = (name: string) => new Random('client', name).id('client', FOUNDED);
export const createUserId = (name: string) => new Random('user', name).id('user', FOUNDED);

/** Lists the ids of the builders with these indexes; of all of the region without them. */
export const listBuilderIds = (region: RegionId, indexes: readonly number[] = [...Array(BUILDERS[region]).keys()]) =>
  indexes.map((index) => generateBuilder(region, index).id);

/** Returns the id of the integrator that syncs a builder's records: the first that is connected to it; null if there is none. */
export function findIntegratorId(region: RegionId, index: number): string | null {
  const integrator = INTEGRATORS.find((other) => other.region === region && other.builderIndexes.includes(index));
  return integrator ? createIntegratorId(integrator.name) : null;
}

/** Workers for trying gate attendance, by their access to a project. */
export interface DemoAttendance {
  builderId: string;
  projectId: string;
  workers: { active: string[]; revoked: string[]; none: string[] };
}

/** Generates the ids of a builder's first project, and of its own workers by their access to it. */
export function generateAttendance(region: RegionId, index: number): DemoAttendance {
  const random = new Random(region, index, 'attendance');
  const projectId = random.id('project', FOUNDED);
  const createWorkers = (count: number) => Array.from({ length: count }, () => random.id('worker', FOUNDED));
  const workers = { active: createWorkers(8), revoked: createWorkers(2), none: createWorkers(2) };
  return { builderId: generateBuilder(region, index).id, projectId, workers };
}
