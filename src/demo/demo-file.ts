import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RegionId } from '../shared/regions.ts';
import { newSecret } from '../shared/secrets.ts';
import {
  ACCOUNTS,
  createClientId,
  createEmailAddress,
  createStaffEmail,
  createUserId,
  listBuilderIds,
  STAFF,
  USERS,
} from './accounts.ts';
import { createDemoAttendance, type DemoAttendance } from './builder-rows.ts';

export interface DemoClient {
  name: string;
  /** Name of its integrator; null for the internal client. */
  integrator: string | null;
  type: 'confidential' | 'public' | 'internal';
  clientId: string;
  /** Null for a public client. */
  clientSecret: string | null;
  grants: string[];
  scopes: string[];
  regionId: RegionId;
  builderIds: string[];
  redirectUris: string[];
}

export interface DemoUser {
  id: string;
  email: string;
  password: string;
  regionId: RegionId;
  builderIds: string[];
}

/** A staff user, with the same password in each of the regions. */
export interface DemoStaff {
  id: string;
  email: string;
  password: string;
  role: string;
  regionIds: RegionId[];
}

/** Content of `demo.json`: credentials of the demo's clients, users and staff. */
export interface DemoFile {
  baseUrl: string;
  clients: DemoClient[];
  users: DemoUser[];
  staff: DemoStaff[];
  /** Absent if `au1` has no demo data. */
  attendance?: DemoAttendance;
}

/** Client secrets by client id and passwords by user id. */
export type Secrets = ReadonlyMap<string, string>;

export function readSecrets({ clients, users, staff }: DemoFile): Secrets {
  const ofClients = clients.map(({ clientId, clientSecret }) => [clientId, clientSecret] as const);
  const ofUsers = [...users, ...(staff ?? [])].map(({ id, password }) => [id, password] as const);
  return new Map([...ofClients, ...ofUsers].filter((entry): entry is readonly [string, string] => entry[1] !== null));
}

/** Creates the content of `demo.json` for these regions. Secrets that are not given are generated. */
export function createDemoFile(regions: readonly RegionId[], baseUrl: string, secrets: Secrets = new Map()): DemoFile {
  const clients = ACCOUNTS.filter(({ region }) => regions.includes(region)).map((account): DemoClient => {
    const clientId = createClientId(account);
    return {
      name: account.name,
      integrator: account.integrator,
      type: account.type,
      clientId,
      clientSecret: account.type === 'public' ? null : (secrets.get(clientId) ?? newSecret()),
      grants: [...account.grants],
      scopes: [...account.scopes],
      regionId: account.region,
      builderIds: listBuilderIds(account),
      redirectUris: account.redirectUris,
    };
  });
  const users = USERS.filter(({ region }) => regions.includes(region)).map((user): DemoUser => {
    const id = createUserId(user);
    const password = secrets.get(id) ?? newPassword();
    return { id, email: createEmailAddress(user), password, regionId: user.region, builderIds: listBuilderIds(user) };
  });
  const staff = STAFF.map((user): DemoStaff => {
    const id = createUserId(user);
    const regionIds = user.regions.filter((region) => regions.includes(region));
    return {
      ...{ id, email: createStaffEmail(user), password: secrets.get(id) ?? newPassword() },
      ...{ role: user.staffRole, regionIds },
    };
  }).filter(({ regionIds }) => regionIds.length > 0);
  const file = { baseUrl, clients, users, staff };
  return regions.includes('au1') ? { ...file, attendance: createDemoAttendance() } : file;
}

const newPassword = () => randomBytes(12).toString('base64url');

/** Reads `demo.json`; null if it is missing or invalid. */
export async function readDemoFile(path: string): Promise<DemoFile | null> {
  try {
    const file = JSON.parse(await readFile(path, 'utf8')) as DemoFile | null;
    return Array.isArray(file?.clients) && Array.isArray(file.users) ? file : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Writes `demo.json` atomically, readable by its owner only. */
export async function writeDemoFile(path: string, file: DemoFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(file, null, 2)}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}
