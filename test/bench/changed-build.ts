import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Stage } from './stage.ts';

/**
 * Copies the built service beside the build, with changed code. Returns the address of its program.
 *
 * @param change Returns the new code of a file; the same where nothing changes. `name` is its path within the build: `src/app.js`.
 */
export async function copyBuild(stage: Stage, change: (code: string, name: string) => string): Promise<string> {
  // Beside `dist`, so that relative addresses of other files stay right.
  const folder = await mkdtemp(join(process.cwd(), 'dist-changed-'));
  stage.defer(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['entities', 'resolvers', 'schema', 'src']) {
    await cp(join('dist', name), join(folder, name), { recursive: true });
  }
  let count = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.js')) continue;
    const code = await readFile(join(folder, name), 'utf8');
    const changed = change(code, name);
    if (changed === code) continue;
    await writeFile(join(folder, name), changed);
    count++;
  }
  if (count === 0) throw new Error('The build has nothing to change.');
  return pathToFileURL(join(folder, 'src/server.js')).href;
}
