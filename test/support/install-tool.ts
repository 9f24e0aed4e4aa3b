import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** Returns the time of the last change of a file in milliseconds; 0 where there is none. */
const readChangeTime = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/**
 * Installs the packages of a folder that has a package.json and a lock file of its own, unless they are installed. Benchmarks, proofs and
 * generators that few people run keep their packages there, so that `npm ci` of the project installs only what the service and `npm test` need.
 *
 * @param folder such as `test/tools/openapi`
 * @returns its absolute path
 */
export function installTool(folder: string): string {
  const path = resolve(folder);
  const installedAt = readChangeTime(join(path, 'node_modules/.package-lock.json'));
  if (installedAt < readChangeTime(join(path, 'package-lock.json'))) {
    process.stderr.write(`Installing the packages of ${folder}.\n`);
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
      cwd: path,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
  return path;
}

if (process.argv[1] === import.meta.filename) installTool(process.argv[2]!);
