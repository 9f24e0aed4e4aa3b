import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RegionId } from '../shared/regions.ts';
import { newSecret } from '../shared/secrets.ts';
import { ACCOUNTS, addressOf, clientIdOf, PEOPLE, reachOf, userIdOf } from './accounts.ts';
import { type Attendance, demoAttendance } from './content.ts';

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

/** What `demo.json` holds: whom one can be in the demo. */
export interface DemoFile {
  baseUrl: string;
  clients: DemoClient[];
  users: DemoUser[];
  /** Absent where the demo has no `au1`. */
  attendance?: Attendance;
}

/** Client secrets by client id and passwords by user id. */
export type Secrets = ReadonlyMap<string, string>;

export function secretsOf({ clients, users }: DemoFile): Secrets {
  const ofClients = clients.map(({ clientId, clientSecret }) => [clientId, clientSecret] as const);
  const ofUsers = users.map(({ id, password }) => [id, password] as const);
  return new Map([...ofClients, ...ofUsers].filter((entry): entry is readonly [string, string] => entry[1] !== null));
}

/** The clients and users of those regions. A secret that is not given is new. */
export function demoFile(regions: readonly RegionId[], baseUrl: string, secrets: Secrets = new Map()): DemoFile {
  const clients = ACCOUNTS.filter(({ region }) => regions.includes(region)).map((account): DemoClient => {
    const clientId = clientIdOf(account);
    return {
      name: account.name,
      integrator: account.vendor,
      type: account.type,
      clientId,
      clientSecret: account.type === 'public' ? null : (secrets.get(clientId) ?? newSecret()),
      grants: [...account.grants],
      scopes: [...account.scopes],
      regionId: account.region,
      builderIds: reachOf(account),
      redirectUris: account.redirectUris,
    };
  });
  const users = PEOPLE.filter(({ region }) => regions.includes(region)).map((person): DemoUser => {
    const id = userIdOf(person);
    const password = secrets.get(id) ?? randomBytes(12).toString('base64url');
    return { id, email: addressOf(person), password, regionId: person.region, builderIds: reachOf(person) };
  });
  const file = { baseUrl, clients, users };
  return regions.includes('au1') ? { ...file, attendance: demoAttendance() } : file;
}

/** Null where there is no such file, or none that can be read as one: it is then written anew. */
export async function readDemoFile(path: string): Promise<DemoFile | null> {
  try {
    const file = JSON.parse(await readFile(path, 'utf8')) as DemoFile | null;
    return Array.isArray(file?.clients) && Array.isArray(file.users) ? file : null;
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Whole or not at all, and for its owner alone. */
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
