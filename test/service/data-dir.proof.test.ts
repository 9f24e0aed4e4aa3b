import { chmod, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openCluster } from '../../src/dev-postgres/cluster.ts';
import { findRunningServer } from '../../src/dev-postgres/postmaster.ts';
import { freePort } from '../support/ports.ts';
import { endPrograms, startProgram } from '../support/program.ts';

let folder: string;
let dataDir: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'data-dir-'));
  // PostgreSQL's user has to pass through where the tests run as root.
  await chmod(folder, 0o711);
  dataDir = join(folder, 'data');
  await startProgram({ DATA_DIR: dataDir, PORT: String(await freePort()) });
});

afterAll(async () => {
  await endPrograms();
  if (await findRunningServer(dataDir)) await (await openCluster({ dataDir })).stop();
  await rm(folder, { recursive: true, force: true });
});

interface Entry {
  path: string;
  mode: string;
  isFolder: boolean;
}

/** Every file and folder under the data folder while the service runs, with its permission bits in octal. */
async function listEntries(): Promise<Entry[]> {
  const names = await readdir(dataDir, { recursive: true, withFileTypes: true });
  const found = await Promise.all(
    names.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      // PostgreSQL removes files of its own at any time.
      const facts = await stat(path).catch(() => null);
      return facts && { path: relative(dataDir, path), mode: modeOf(facts.mode), isFolder: facts.isDirectory() };
    }),
  );
  return found.filter((entry) => entry !== null);
}

const modeOf = (mode: number) => (mode & 0o777).toString(8);

describe('DATA_DIR of a running service', () => {
  it('cannot be listed by other users; the user of PostgreSQL may traverse it', async () => {
    const { mode } = await stat(dataDir);
    expect(modeOf(mode)).toBe(process.getuid!() === 0 ? '711' : '700');
  });

  it.each(['postgres.password', 'postgres.log', 'token.key', 'demo.json'])(
    'holds %s, for its owner alone',
    async (name) => {
      expect((await listEntries()).find(({ path }) => path === name)).toMatchObject({ mode: '600', isFolder: false });
    },
  );

  it('holds folders of the database and of stored files, for their owners alone', async () => {
    const folders = (await listEntries()).filter(({ path, isFolder }) => isFolder && !path.includes('/'));
    expect(folders.length).toBeGreaterThan(1);
    expect(folders.map(({ path }) => path)).toContain('postgres');
    expect(folders.filter(({ mode }) => mode !== '700')).toEqual([]);
  });

  it('holds nothing that its group or others may read or write', async () => {
    const all = await listEntries();
    const stored = all.filter(({ path, isFolder }) => !isFolder && !path.startsWith('postgres') && path.includes('/'));
    // Demo data come with pictures.
    expect(stored.length).toBeGreaterThan(0);
    expect(all.filter(({ mode }) => !mode.endsWith('00'))).toEqual([]);
  });
});
