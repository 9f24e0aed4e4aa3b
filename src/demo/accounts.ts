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

/** Integrators by the names that the tests and the documentation call them, with the builders that they are connected to. */
export const INTEGRATORS: { name: string; company: string; region: RegionId; builderIndexes: number[] }[] = [
  { name: 'A', company: 'TurnGate Access', region: 'au1', builderIndexes: [0, 1] },
  { name: 'B', company: 'Ledgerline Payroll', region: 'au1', builderIndexes: [2] },
  { name: 'C', company: 'Fieldnote Reports', region: 'au1', builderIndexes: [0] },
  { name: 'D', company: 'Plumbline Sync', region: 'us1', builderIndexes: [0] },
];

export const createIntegratorId = (name: string) => new Random('integrator', name).id('integrator', FOUNDED);

/** Lists the ids of the builders with these indexes; of all of the region without them. */
export const listBuilderIds = (region: RegionId, indexes: readonly number[] = [...Array(BUILDERS[region]).keys()]) =>
  indexes.map((index) => generateBuilder(region, index).id);

interface ClientOptions {
  type?: 'confidential' | 'public' | 'internal';
  grants?: Grant[];
  scopes?: Scope[];
  redirectUris?: string[];
}

/** Creates a client, without its secret. @param integrator name of its integrator; null for an internal client */
export function createClient(name: string, integrator: string | null, regionId: RegionId, options: ClientOptions = {}) {
  const { type = 'confidential', grants = [...GRANTS], scopes = [...SCOPES] } = options;
  const { redirectUris = ['http://127.0.0.1:8976/callback'] } = options;
  const clientId = new Random('client', name).id('client', FOUNDED);
  const builderIds = listBuilderIds(regionId, INTEGRATORS.find((one) => one.name === integrator)?.builderIndexes);
  return { name, integrator, type, clientId, grants, scopes, regionId, builderIds, redirectUris };
}

const without = (scope: Scope) => SCOPES.filter((other) => other !== scope);

/** Every client of the demo, by the names that the tests and the documentation call them. */
export const CLIENTS = [
  createClient('A', 'A', 'au1'),
  createClient('B', 'B', 'au1'),
  createClient('C', 'C', 'au1'),
  createClient('A without read:timesheets', 'A', 'au1', { scopes: without('read:timesheets') }),
  createClient('A public', 'A', 'au1', {
    type: 'public',
    grants: ['authorization_code', 'refresh_token'],
    // Gate events are sent by a server, under the pilot agreement.
    scopes: without('write:sign_on_events'),
    redirectUris: ['http://127.0.0.1:8977/callback'],
  }),
  createClient('internal', null, 'au1', {
    type: 'internal',
    grants: ['client_credentials'],
    scopes: [...SCOPES.filter((scope) => scope.startsWith('read:')), ...INTERNAL_SCOPES],
    redirectUris: [],
  }),
  createClient('us1', 'D', 'us1'),
];

const createPerson = (name: string, company: string) => {
  return { id: new Random('user', name).id('user', FOUNDED), name, email: toEmail(name, company) };
};

const createUser = (name: string, role: string, regionId: RegionId, builderIndexes: [number, ...number[]]) => {
  const { name: company } = generateBuilder(regionId, builderIndexes[0]);
  return { ...createPerson(name, company), role, regionId, builderIds: listBuilderIds(regionId, builderIndexes) };
};

/** Users who can sign in, with their role in each of the builders, without their passwords. */
export const USERS = [
  createUser('Robin Walsh', 'PROJECT_MANAGER', 'au1', [0]),
  createUser('Alex Nguyen', 'ADMIN', 'au1', [0, 1]),
  createUser('Casey Brooks', 'ADMIN', 'us1', [0]),
];

const createStaff = (name: string, role: NonNullable<User['staffRole']>, ...regionIds: RegionId[]) => {
  return { ...createPerson(name, 'operator'), role, regionIds };
};

/** Staff users, who can sign in to the console, without their passwords. */
export const STAFF = [
  createStaff('Morgan Reid', 'VIEWER', 'au1'),
  createStaff('Jordan Ellis', 'OPERATOR', 'au1'),
  createStaff('Taylor Quinn', 'ADMIN', 'au1', 'us1'),
];

/** Returns the id of the integrator that syncs a builder's records: the first that is connected to it; null if there is none. */
export function findIntegratorId(region: RegionId, index: number): string | null {
  const integrator = INTEGRATORS.find((other) => other.region === region && other.builderIndexes.includes(index));
  return integrator ? createIntegratorId(integrator.name) : null;
}

/** Generates the ids of a builder's first project, and of its own workers for trying gates, by their access to it. */
export function generateAttendance(region: RegionId, index: number) {
  const random = new Random(region, index, 'attendance');
  const projectId = random.id('project', FOUNDED);
  const createWorkers = (count: number) => Array.from({ length: count }, () => random.id('worker', FOUNDED));
  const workers = { active: createWorkers(8), revoked: createWorkers(2), none: createWorkers(2) };
  return { builderId: generateBuilder(region, index).id, projectId, workers };
}
