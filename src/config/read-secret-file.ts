import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { InvalidValue } from './parsers.ts';

const MAX_BYTES = 1024 * 1024;

/** Reads a file that a setting names. Throws `InvalidValue`, whose message does not contain the path: it may be the secret itself. */
export function readSecretFile(path: string): Buffer {
  try {
    // Opening a named pipe would otherwise wait for its writer.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const about = fstatSync(file);
      if (!about.isFile() || about.size > MAX_BYTES) {
        throw new InvalidValue('must be the path of a file of at most 1 MiB, and no folder, pipe or device');
      }
      return readFileSync(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof InvalidValue) throw error;
    throw new InvalidValue(`must be the path of a file that can be read (${(error as NodeJS.ErrnoException).code})`);
  }
}
