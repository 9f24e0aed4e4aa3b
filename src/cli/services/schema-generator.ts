import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { printSchema } from 'graphql';
import { buildServiceSchema } from '../../../resolvers/service-schema.ts';
import { printScalarMap } from '../../../schema/codegen.ts';
import { createRouteTable } from '../../../schema/route-table.ts';
import { buildConsoleSchema } from '../../console/server/console-schema.ts';
import { createOpenApiDocument } from '../../rest/openapi.ts';

/** Server address in the committed OpenAPI document. */
const PLACEHOLDER_URL = 'https://api.example.com';

/** Generates the committed documents, with paths relative to the folder `schema`. */
async function generateSchemaDocuments(): Promise<[file: string, text: string][]> {
  const schema = buildServiceSchema();
  const document = await createOpenApiDocument(schema, createRouteTable(schema), PLACEHOLDER_URL);
  return [
    ['schema.graphql', `${printSchema(schema)}\n`],
    ['console.graphql', `${printSchema(buildConsoleSchema(schema))}\n`],
    ['openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ['../docs/graphql-codegen.ts', printScalarMap(schema)],
  ];
}

/** Writes `schema.graphql`, `console.graphql` and `openapi.json` to the folder, and the scalar map to `docs` beside it. Returns their paths. */
export async function writeSchemaDocuments(folder: string): Promise<string[]> {
  const files = await generateSchemaDocuments();
  for (const [file, text] of files) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
  return files.map(([file]) => join(folder, file));
}

/** Throws if a committed document differs from the generated one. */
export async function requireCurrentSchemaDocuments(folder: string): Promise<void> {
  const stale: string[] = [];
  for (const [file, text] of await generateSchemaDocuments()) {
    const path = join(folder, file);
    const committed = await readFile(path, 'utf8').catch(() => null);
    if (committed !== text) stale.push(path);
  }
  if (stale.length > 0) throw new Error(`Stale: ${stale.join(' and ')}. Run: npm run cli -- schema emit`);
}
