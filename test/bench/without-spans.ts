import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Stage } from './stage.ts';

/** Copies the built service beside the build, without the calls that record spans. Returns the address of its program. */
export async function buildWithoutSpans(stage: Stage): Promise<string> {
  // Beside `dist`, so that relative addresses of other files stay right.
  const folder = await mkdtemp(join(process.cwd(), 'dist-without-spans-'));
  stage.defer(() => rm(folder, { recursive: true, force: true }));
  for (const name of ['entities', 'resolvers', 'schema', 'src']) {
    await cp(join('dist', name), join(folder, name), { recursive: true });
  }
  let count = 0;
  for (const name of await readdir(folder, { recursive: true })) {
    if (!name.endsWith('.js') || name === join('src', 'shared', 'tracing.js')) continue;
    const code = await readFile(join(folder, name), 'utf8');
    const changed = withoutSpans(code);
    if (changed === code) continue;
    await writeFile(join(folder, name), changed);
    count++;
  }
  if (count === 0) throw new Error('The build has no calls of traced.');
  return pathToFileURL(join(folder, 'src/server.js')).href;
}

/** Returns the code with `(WORK)()` in place of each `traced(NAME, ATTRIBUTES, WORK, ...)`. */
export function withoutSpans(code: string): string {
  const [head, ...calls] = code.split(/(?<!\.)\btraced\(/);
  return calls.reduce((done, call) => {
    const ends: number[] = [];
    let depth = 0;
    let at = 0;
    for (; depth >= 0; at++) {
      const character = call[at];
      if (character === undefined) throw new Error('A call of traced does not end.');
      if ('([{'.includes(character)) depth++;
      if (')]}'.includes(character)) depth--;
      if ((character === ',' && depth === 0) || depth < 0) ends.push(at);
    }
    return `${done}(${call.slice(ends[1]! + 1, ends[2])})()${call.slice(at)}`;
  }, head!);
}
