import { createHmac } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { RegionId } from '../shared/regions.ts';
import { CLIENTS, generateAttendance, STAFF, USERS } from './accounts.ts';

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
  const addPassword = <T extends { id: string }>(user: T) => ({
    ...user,
    password: deriveSecret(user.id).slice(0, 16),
  });
  const isLoaded = ({ regionId }: { regionId: RegionId }) => regions.includes(regionId);
  const clients = CLIENTS.filter(isLoaded).map((client) => {
    return { ...client, clientSecret: client.type === 'public' ? null : deriveSecret(client.clientId) };
  });
  const users = USERS.filter(isLoaded).map(addPassword);
  const staff = STAFF.map((user) => {
    return { ...addPassword(user), regionIds: user.regionIds.filter((region) => regions.includes(region)) };
  }).filter(({ regionIds }) => regionIds.length > 0);
  // For trying gates; absent where `au1` has no demo data.
  const attendance = regions.includes('au1') ? { attendance: generateAttendance('au1', 0) } : {};
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
  await writeFile(draft, text, { flag: 'wx', mode: 0o600, flush: true });
  await rename(draft, path);
}
