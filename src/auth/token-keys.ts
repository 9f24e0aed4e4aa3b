import { randomBytes } from 'node:crypto';
import { mkdir, open, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { InvalidValue, parseTokenKeys } from '../config/parsers.ts';
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
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(randomBytes(32).toString('base64url'));
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  try {
    return parseTokenKeys((await readFile(path, 'utf8')).trim());
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    throw new ConfigError([{ name: 'TOKEN_KEY', message: `in the file ${path} ${error.message}` }]);
  }
}
