import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printSchema } from 'graphql';
import { buildServiceSchema } from '../../../resolvers/service-schema.ts';
import { scalarMap } from '../../../schema/codegen.ts';
import { routeTable } from '../../../schema/route-table.ts';
import { openApiDocument } from '../../rest/openapi.ts';

/** Stands for the service's own address in the committed document. */
const PLACEHOLDER_URL = 'https://api.example.com';

/** The committed descriptions of the service, by their paths from the schema's folder. */
async function descriptions(): Promise<[file: string, text: string][]> {
  const schema = buildServiceSchema();
  const document = await openApiDocument(schema, routeTable(schema), PLACEHOLDER_URL);
  return [
    ['schema.graphql', `${printSchema(schema)}\n`],
    ['openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ['../docs/graphql-codegen.ts', scalarMap(schema)],
  ];
}

/** Writes `schema.graphql` and `openapi.json` into the folder, the scalar map into `docs` beside it, and returns their paths. */
export async function emitSchema(folder = 'schema'): Promise<string[]> {
  const files = await descriptions();
  for (const [file, text] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return files.map(([file]) => join(folder, file));
}

/** Throws when a committed description is not what the code says. */
export async function checkEmitted(folder = 'schema'): Promise<void> {
  const stale: string[] = [];
  for (const [file, text] of await descriptions()) {
    const path = join(folder, file);
    const committed = await readFile(path, 'utf8').catch(() => null);
    if (committed !== text) stale.push(path);
  }
  if (stale.length > 0) throw new Error(`Stale: ${stale.join(' and ')}. Run: npm run cli -- schema emit`);
}
