import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BuiltContents, POSTMAN_FILE, toPageFile } from '../page.ts';
import { hashBody } from '../static-document.ts';
import { renderGuides } from './guides.ts';
import { createPostmanCollection } from './postman-collection.ts';
import { type ReferenceDocument, renderReferencePage } from './reference-page.ts';

const OUT = 'dist/documentation';
const FINGERPRINT = join(OUT, '.fingerprint');

/** Builds the reference, the guides and the Postman collection into `dist/documentation`, unless they would be the same as before. */
const document: ReferenceDocument = JSON.parse(await readFile('schema/openapi.json', 'utf8'));
const { pages, links, sections } = await renderGuides('docs', document);
pages.set('/docs/', renderReferencePage(document));
const contents: BuiltContents = { paths: [...pages.keys()], links, sections };
const files = [...pages].map(([path, html]): [name: string, text: string] => [toPageFile(path), html]);
files.push(['contents.json', JSON.stringify(contents)]);
const fingerprint = hashBody(JSON.stringify([files, document]));
if ((await readFile(FINGERPRINT, 'utf8').catch(() => null)) !== fingerprint) {
  files.push([POSTMAN_FILE, await createPostmanCollection(document)]);
  await rm(OUT, { recursive: true, force: true });
  for (const [name, text] of files) {
    await mkdir(dirname(join(OUT, name)), { recursive: true });
    await writeFile(join(OUT, name), text);
  }
  await writeFile(FINGERPRINT, fingerprint);
}
