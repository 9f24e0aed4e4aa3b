import { createHmac } from 'node:crypto';
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RegionId } from '../shared/regions.ts';
import * as accounts from './accounts.ts';

/** Content of `demo.json`: credentials of the demo's clients, users and staff. */
export type DemoFile = ReturnType<typeof createDemoFile>;
export type DemoClient = DemoFile['clients'][number];
export type DemoUser = DemoFile['users'][number];
/** A staff user, with the same password in each of the regions. */
export type DemoStaff = DemoFile['staff'][number];

/**
 * Creates the content of `demo.json` for these regions.
 *
 * @param key the secrets are derived from it, so that a file which is lost is written again as it was
 */
export function createDemoFile(regions: readonly RegionId[], baseUrl: string, key: string) {
  const deriveSecret = (id: string) => createHmac('sha256', key).update(`demo ${id}`).digest('base64url');
  const clients = accounts.ACCOUNTS.filter(({ regionId }) => regions.includes(regionId)).map((account) => {
    const { name, integrator, type, regionId, redirectUris } = account;
    const clientId = accounts.createClientId(name);
    const clientSecret = type === 'public' ? null : deriveSecret(clientId);
    const [grants, scopes] = [[...account.grants], [...account.scopes]];
    const connected = accounts.INTEGRATORS.find((other) => other.name === integrator)?.builderIndexes;
    const builderIds = accounts.listBuilderIds(regionId, connected);
    return { name, integrator, type, clientId, clientSecret, grants, scopes, regionId, builderIds, redirectUris };
  });
  const createPerson = (name: string, company: string) => {
    const id = accounts.createUserId(name);
    return { id, name, email: accounts.toEmail(name, company), password: deriveSecret(id).slice(0, 16) };
  };
  const users = accounts.USERS.filter(({ regionId }) => regions.includes(regionId)).map((user) => {
    const { name, role, regionId, builderIndexes } = user;
    const company = accounts.generateBuilder(regionId, builderIndexes[0]!).name;
    const builderIds = accounts.listBuilderIds(regionId, builderIndexes);
    return { ...createPerson(name, company), role, regionId, builderIds };
  });
  const staff = accounts.STAFF.map(({ name, role, regionIds }) => {
    return {
      ...createPerson(name, 'operator'),
      role,
      regionIds: regionIds.filter((region) => regions.includes(region)),
    };
  }).filter(({ regionIds }) => regionIds.length > 0);
  // For trying gates; absent where `au1` has no demo data.
  const attendance = regions.includes('au1') ? { attendance: accounts.generateAttendance('au1', 0) } : {};
  return { baseUrl, clients, users, staff, ...attendance };
}

/** Returns the accounts of one region. */
export const selectAccounts = ({ clients, users, staff }: DemoFile, region: RegionId) => ({
  clients: clients.filter(({ regionId }) => regionId === region),
  users: users.filter(({ regionId }) => regionId === region),
  staff: staff.filter(({ regionIds }) => regionIds.includes(region)),
});

/** Writes `demo.json` atomically, readable by its owner only, unless it has this content. */
export async function writeDemoFile(path: string, file: DemoFile): Promise<void> {
  const text = `${JSON.stringify(file, null, 2)}\n`;
  if ((await readFile(path, 'utf8').catch(() => null)) === text) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const draft = `${path}.new`;
  await rm(draft, { force: true });
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(draft, path);
}
