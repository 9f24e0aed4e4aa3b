import { ClientSecret } from '../../entities/client-secret.entity.ts';
import { Connection } from '../../entities/connection.entity.ts';
import { Integrator } from '../../entities/integrator.entity.ts';
import { Membership } from '../../entities/membership.entity.ts';
import { GRANTS, type Grant, OAuthClient } from '../../entities/oauth-client.entity.ts';
import { User } from '../../entities/user.entity.ts';
import { INTERNAL_SCOPES, SCOPES, type Scope } from '../../schema/scopes.ts';
import type { RegionId } from '../shared/regions.ts';
import { digestOf } from '../shared/secrets.ts';
import { baseDay, STORY_DAYS } from './dates.ts';
import { emailOf } from './people.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';
import { builderOf } from './scene.ts';

/** Builders of each region that the demo begins with. */
export const BUILDERS: Record<RegionId, number> = { au1: 4, us1: 1 };

const AT = baseDay(-STORY_DAYS);
const DATES = { createdAt: AT, updatedAt: AT };
const CALLBACK = 'http://127.0.0.1:8976/callback';
const PUBLIC_CALLBACK = 'http://127.0.0.1:8977/callback';
const AGREEMENT = 'DEMO-PILOT-1';

interface Vendor {
  name: string;
  region: RegionId;
  /** Places of the builders that it is connected to. */
  places: number[];
}

const VENDORS: Vendor[] = [
  { name: 'A', region: 'au1', places: [0, 1] },
  { name: 'B', region: 'au1', places: [2] },
  { name: 'C', region: 'au1', places: [0] },
  { name: 'D', region: 'us1', places: [0] },
];

export interface Account {
  name: string;
  /** Name of its integrator; null for an internal client. */
  vendor: string | null;
  region: RegionId;
  type: 'confidential' | 'public' | 'internal';
  grants: readonly Grant[];
  scopes: readonly Scope[];
  redirectUris: string[];
}

const full = { type: 'confidential', grants: GRANTS, scopes: SCOPES, redirectUris: [CALLBACK] } as const;
const without = (scope: Scope) => SCOPES.filter((other) => other !== scope);
const reads = SCOPES.filter((scope) => scope.startsWith('read:'));

const account = (name: string, vendor: string | null, region: RegionId, more: Partial<Account> = {}): Account => {
  return { name, vendor, region, ...full, redirectUris: [CALLBACK], ...more };
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
    // Gate events come from a server that has agreed to the pilot.
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

interface Person {
  name: string;
  role: string;
  region: RegionId;
  places: number[];
}

/** Those who sign in. */
export const PEOPLE: Person[] = [
  { name: 'Robin Walsh', role: 'PROJECT_MANAGER', region: 'au1', places: [0] },
  { name: 'Alex Nguyen', role: 'ADMIN', region: 'au1', places: [0, 1] },
  { name: 'Casey Brooks', role: 'ADMIN', region: 'us1', places: [0] },
];

const builderIdsOf = ({ region, places }: { region: RegionId; places: number[] }) =>
  places.map((place) => builderOf(region, place).id);

const vendorNamed = (name: string | null) => VENDORS.find((vendor) => vendor.name === name)!;

export const integratorIdOf = (vendor: string) => new Random('integrator', vendor).id('integrator', AT);
export const clientIdOf = ({ name }: Account) => new Random('client', name).id('client', AT);
export const userIdOf = ({ name }: Person) => new Random('user', name).id('user', AT);
export const addressOf = ({ name, region, places }: Person) => emailOf(name, builderOf(region, places[0]!).domain);

/** Ids of the builders that a client or a person reaches; an internal client reaches all of its region. */
export function reachOf(who: Account | Person): string[] {
  if ('places' in who) return builderIdsOf(who);
  if (who.vendor !== null) return builderIdsOf(vendorNamed(who.vendor));
  return builderIdsOf({ region: who.region, places: [...Array(BUILDERS[who.region]).keys()] });
}

/** The integrator that keeps a builder's notes in step: the first that is connected to it. */
export function integratorAt(region: RegionId, place: number): string | null {
  const vendor = VENDORS.find((other) => other.region === region && other.places.includes(place));
  return vendor ? integratorIdOf(vendor.name) : null;
}

/** What the region's clients and people sign in with: secrets by client id, password hashes by user id. */
export interface Credentials {
  secrets: ReadonlyMap<string, string>;
  passwordHashes: ReadonlyMap<string, string>;
}

/** Integrators, clients, connections and those who sign in. */
export function accountRows(region: RegionId, { secrets, passwordHashes }: Credentials): Rows {
  const rows = new Rows();
  const inRegion = <T extends { region: RegionId }>(all: T[]) => all.filter((one) => one.region === region);
  for (const vendor of inRegion(VENDORS)) {
    const integratorId = integratorIdOf(vendor.name);
    rows.add(Integrator, { id: integratorId, ...DATES, name: vendor.name, deepLinkSchemes: [] });
    for (const builderId of builderIdsOf(vendor)) {
      rows.add(Connection, { ...DATES, integratorId, builderId, status: 'ACTIVE', scopes: [...SCOPES] });
    }
  }
  for (const client of inRegion(ACCOUNTS)) {
    addClient(rows, client, secrets.get(clientIdOf(client)));
  }
  for (const person of inRegion(PEOPLE)) {
    const id = userIdOf(person);
    const passwordHash = passwordHashes.get(id) ?? null;
    const { name, role } = person;
    rows.add(User, { id, ...DATES, name, email: addressOf(person), passwordHash, pictureKey: null, disabledAt: null });
    for (const builderId of builderIdsOf(person)) rows.add(Membership, { ...DATES, userId: id, builderId, role });
  }
  return rows;
}

function addClient(rows: Rows, client: Account, secret: string | undefined): void {
  const id = clientIdOf(client);
  const isPublic = client.type === 'public';
  rows.add(OAuthClient, {
    id,
    ...DATES,
    integratorId: client.vendor && integratorIdOf(client.vendor),
    name: client.name,
    type: isPublic ? 'PUBLIC' : 'CONFIDENTIAL',
    internal: client.type === 'internal',
    grants: [...client.grants],
    scopes: [...client.scopes],
    redirectUris: client.redirectUris,
    origins: isPublic ? client.redirectUris.map((uri) => new URL(uri).origin) : [],
    pilotAgreement: client.scopes.includes('write:sign_on_events') ? AGREEMENT : null,
    disabledAt: null,
  });
  if (secret !== undefined) rows.add(ClientSecret, { clientId: id, digest: digestOf(secret), createdAt: AT });
}
