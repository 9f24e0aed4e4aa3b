import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { CliError } from '../cli-error.ts';
import { findSourceRoot } from './source-root.ts';
import { requireListedSources } from './unlisted-sources.ts';

/** Writes the committed schema documents. With `check` it writes nothing, and throws `CliError` if one is stale. */
export async function updateSchemaDocuments(
  { check }: { check: boolean },
  folder?: string,
): Promise<{ files: string[] }> {
  const target = folder ?? join(await findSourceRoot(), 'schema');
  await access(target).catch(() => {
    throw CliError.forOption('schema emit', `there is no folder ${target}`);
  });
  await requireListedSources();
  // Imported here because no other command needs the resolvers.
  const { requireCurrentSchemaDocuments, writeSchemaDocuments } = await import('./schema-generator.ts');
  if (!check) return { files: await writeSchemaDocuments(target) };
  await requireCurrentSchemaDocuments(target).catch((error: Error) => {
    throw error.message.startsWith('Stale') ? new CliError(error.message) : error;
  });
  return { files: [] };
}
