import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadTokenKeys } from '../../src/auth/token-keys.ts';
import { loadConfig } from '../../src/config.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-token-keys-'));
});
afterAll(() => rm(folder, { recursive: true }));

describe('a token.key that is no file', () => {
  it('ends the start with one line that names the setting and the path', async () => {
    const dataDir = join(folder, 'odd');
    await mkdir(join(dataDir, 'token.key'), { recursive: true });
    await expect(loadTokenKeys(loadConfig({ DATA_DIR: dataDir }))).rejects.toThrow(
      `TOKEN_KEY in the file ${join(dataDir, 'token.key')} must be the path of a file of at most 1 MiB, and no folder, pipe or device`,
    );
  });
});

describe('the first start without TOKEN_KEY', () => {
  it('writes one key, which every process that starts at the same time reads completely', async () => {
    for (let round = 0; round < 5; round++) {
      const config = loadConfig({ DATA_DIR: join(folder, String(round)) });
      const keys = await Promise.all(Array.from({ length: 20 }, () => loadTokenKeys(config)));
      expect(new Set(keys.flat()).size).toBe(1);
      expect(await readdir(config.dataDir)).toEqual(['token.key']);
      expect(Buffer.from(keys[0]![0]!, 'base64url')).toHaveLength(32);
    }
  });
});
