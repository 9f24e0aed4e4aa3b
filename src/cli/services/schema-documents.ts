import { access, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { PACKAGE_ROOT } from '../../shared/version.ts';
import { CliError } from '../cli-error.ts';

/**
 * Writes `schema.graphql`, `console.graphql` and `openapi.json` to the folder, and the scalar map to `docs` beside it. With `check` it
 * writes nothing, and throws `CliError` if one of them is stale.
 */
export async function updateSchemaDocuments(
  { check }: { check: boolean },
  folder = join(PACKAGE_ROOT, 'schema'),
): Promise<{ files: string[] }> {
  await access(folder).catch(() => {
    throw CliError.forOption('schema emit', `there is no folder ${folder}`);
  });
  // Imported here because no other command needs the resolvers.
  const { generateSchemaDocuments } = await import('./schema-generator.ts');
  const changed: string[] = [];
  for (const [file, text] of await generateSchemaDocuments()) {
    const path = join(folder, file);
    if (check && (await readFile(path, 'utf8').catch(() => null)) === text) continue;
    changed.push(path);
    if (check) continue;
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  if (check && changed.length > 0)
    throw new CliError(`Stale: ${changed.join(' and ')}. Run: npm run cli -- schema emit`);
  return { files: changed };
}
