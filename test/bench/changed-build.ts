import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BenchEnvironment } from './bench-environment.ts';

/**
 * Copies the built service with changed code and returns the URL of its program. Throws where no file changes.
 *
 * @param change Returns the new code of a file, or the same code. `name` is the path within the build, such as `src/app.js`.
 */
export async function copyBuild(
  environment: BenchEnvironment,
  change: (code: string, name: string) => string,
): Promise<string> {
  // In the same folder as `dist`, so that relative paths to other files remain valid.
  const folder = await mkdtemp(join(process.cwd(), 'dist-changed-'));
  environment.onClose(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['entities', 'resolvers', 'schema', 'src']) {
    await cp(join('dist', name), join(folder, name), { recursive: true });
  }
  let changedFiles = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.js')) continue;
    const code = await readFile(join(folder, name), 'utf8');
    const changed = change(code, name);
    if (changed === code) continue;
    await writeFile(join(folder, name), changed);
    changedFiles++;
  }
  if (changedFiles === 0) throw new Error('The build has nothing to change.');
  return pathToFileURL(join(folder, 'src/server.js')).href;
}
