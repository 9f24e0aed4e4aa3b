import { randomBytes } from 'node:crypto';
import { link, mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidValue, parseTokenKeys } from '../config/parsers.ts';
import { readSecretFile } from '../config/read-secret-file.ts';
import { type Config, ConfigError } from '../config.ts';

const FILE = 'token.key';

/**
 * Returns the keys of access tokens and signed URLs, in base64url: those of `TOKEN_KEY`, else one that the first start writes into the
 * data folder. The first key signs, all verify.
 */
export async function loadTokenKeys({ tokenKeys: configured, dataDir }: Config): Promise<readonly string[]> {
  if (configured) return configured;
  const path = join(dataDir, FILE);
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  if (!(await stat(path).catch(() => null))) await writeNewKey(path);
  try {
    return parseTokenKeys(readSecretFile(path).toString().trim());
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ConfigError([{ name: 'TOKEN_KEY', message: `in the file ${path} ${error.message}` }]);
  }
}

/** Writes a new key unless the file exists. It is linked when it is complete, so that no process reads a part of it, also after a kill. */
async function writeNewKey(path: string): Promise<void> {
  const draft = `${path}.${randomBytes(6).toString('hex')}.part`;
  try {
    await writeFile(draft, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600, flush: true });
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
}
