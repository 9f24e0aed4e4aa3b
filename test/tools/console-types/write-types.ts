/** Program of `npm run console:types`: writes the types and texts of the console's operations. */
import { glob, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { generateTypedDocuments } from './generate-documents.ts';

const BROWSER = resolve('src/console/browser');

const files: string[] = [];
for await (const name of glob('**/*.graphql', { cwd: BROWSER })) files.push(join(BROWSER, name));
await writeFile(
  join(BROWSER, 'graphql/generated.ts'),
  await generateTypedDocuments(resolve('schema/console.graphql'), files),
);
