import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadTokenKeys } from '../../src/auth/token-keys.ts';
import { loadConfig } from '../../src/config.ts';
import { describeStartError } from '../../src/start-error.ts';

/** Returns the line of a start that cannot listen there. */
const listen = (port: number, host: string) =>
  new Promise<string>((resolve) => {
    const server = createServer().once('error', (error) => resolve(describeStartError(error)));
    server.listen(port, host, () => server.close(() => resolve('listens')));
  });

describe('a start that cannot listen', () => {
  it.each(['host.invalid', '192.0.2.1'])('at %s ends with one line that names HOST and the value', async (host) => {
    expect(await listen(0, host)).toBe(`HOST must be an address or name of this machine, and ${host} is not.`);
  });

  it('at a port in use ends with one line that names PORT', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    expect(await listen(port, '127.0.0.1')).toBe(`Port ${port} is in use: set PORT to another one.`);
    other.close();
  });
});

describe('a start', () => {
  it.each(['file', 'dangling', 'loop', 'x'.repeat(300)])(
    'with a data folder that cannot be made ends with one line that names it: %s',
    async (name) => {
      const root = await mkdtemp(join(tmpdir(), 'start-error-'));
      await writeFile(join(root, 'file'), '');
      await symlink('nowhere/folder', join(root, 'dangling'));
      await symlink('loop', join(root, 'loop'));
      const dataDir = join(root, name);
      const error = await loadTokenKeys(loadConfig({ DATA_DIR: dataDir })).catch((failure) => failure);
      await rm(root, { recursive: true });
      expect(describeStartError(error)).toBe(`The data folder cannot be written: ${dataDir}.`);
    },
  );

  it.each([
    ['25006', 'The database or a disk cannot be used now: 25006.'],
    [
      '42501',
      'The database user may not do this (42501): a right is missing, or the tables belong to another user, whom ',
    ],
  ])('that the database refuses in another language (%s) ends with one line without the statement', (code, line) => {
    const message = `insert into "client_secret" values ('secret')\n - der Datenbankbenutzer darf das nicht`;
    const described = describeStartError(Object.assign(new Error(message), { code }));
    expect(described).toContain(line);
    expect(described).not.toMatch(/secret|\n/);
  });
});
