import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { Refusal, refuse } from '../cli-error.ts';
import { sourceRoot } from './source-root.ts';

/** Writes the committed descriptions of the service, or with `check` refuses when one is not what the code says. */
export async function emitDescriptions({ check }: { check: boolean }, folder?: string): Promise<{ files: string[] }> {
  const target = folder ?? join(await sourceRoot(), 'schema');
  await access(target).catch(() => refuse('schema emit', `there is no folder ${target}`));
  // Every other command does without the resolvers.
  const { checkEmitted, emitSchema } = await import('./emit-schema.ts');
  if (!check) return { files: await emitSchema(target) };
  await checkEmitted(target).catch((error: Error) => {
    throw error.message.startsWith('Stale') ? new Refusal(error.message) : error;
  });
  return { files: [] };
}
