import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { MAX_FILES, MAX_LINES } from '../proof/add-resource.ts';
import { applyEdit, ROOT, readGuide } from '../support/contributing-guide.ts';
import { createMissingSampleError } from '../support/generated-rows.ts';
import { requireSample } from '../support/samples.ts';
import { findUnlistedSources } from '../support/unlisted-sources.ts';

/*
 * `npm run proof -- add-resource` follows the guides of CONTRIBUTING.md in a copy of the project and runs its tests there. This file
 * checks what needs no copy.
 */

const resource = readGuide('## Adding a resource', 'add-resource');
const field = readGuide('### Adding a response field', 'add-field');
const folders: string[] = [];
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'contributing-'));
  folders.push(folder);
});

afterAll(() => Promise.all(folders.map((each) => rm(each, { recursive: true }))));

/** Applies the edits to copies of the files that they change. */
async function apply(edits: typeof resource.edits): Promise<void> {
  for (const edit of edits) {
    const { file, kind } = edit;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    if (kind === 'diff') await cp(join(ROOT, file), join(folder, file));
    applyEdit(folder, edit);
  }
}

describe('the guide for a resource', () => {
  it(`takes at most ${MAX_FILES} files and ${MAX_LINES} lines`, () => {
    const lines = resource.edits.reduce((sum, { addedLines }) => sum + addedLines, 0);
    expect(resource.edits.length).toBeLessThanOrEqual(MAX_FILES);
    expect(lines).toBeLessThanOrEqual(MAX_LINES);
  });

  it('fits the files that it changes', async () => {
    await apply(resource.edits);
    expect(await readFile(join(folder, 'entities/index.ts'), 'utf8')).toContain('  Permit,\n');
  });

  it('refuses lines that a file does not have, and names them', async () => {
    await writeFile(join(folder, 'list.ts'), 'export const list = [];\n');
    const edit = {
      file: 'list.ts',
      kind: 'diff' as const,
      text: ' const absent = 1;\n+const added = 2;\n',
      addedLines: 1,
    };
    expect(() => applyEdit(folder, edit)).toThrow(
      'CONTRIBUTING.md names lines that list.ts does not have:\nconst absent',
    );
  });
});

describe('the guide for a field', () => {
  it('takes one line, which fits', async () => {
    expect(field.edits.map(({ addedLines }) => addedLines)).toEqual([1]);
    await apply(field.edits);
  });
});

describe('a forgotten step is reported', () => {
  const PERMIT = ['entities/permit.entity.ts', 'resolvers/permit/permit.resolver.ts'];

  /** Applies the new files of the guide, and the lists of the project without the lines that name them. */
  beforeEach(async () => {
    await apply(resource.edits.filter(({ file }) => PERMIT.includes(file)));
    for (const list of ['entities/index.ts', 'resolvers/registry.ts']) await cp(join(ROOT, list), join(folder, list));
  });

  it('when an entity or a resolver is in no list', async () => {
    expect(await findUnlistedSources(folder)).toEqual([
      'Permit of entities/permit.entity.ts is missing from entities/index.ts.',
      'permitFields of resolvers/permit/permit.resolver.ts is missing from resolvers/registry.ts.',
    ]);
  });

  it('when an entity is imported and not listed', async () => {
    const list = await readFile(join(folder, 'entities/index.ts'), 'utf8');
    await writeFile(join(folder, 'entities/index.ts'), `import { Permit } from './permit.entity.ts';\n${list}`);
    expect((await findUnlistedSources(folder))[0]).toContain('Permit of entities/permit.entity.ts is missing');
  });

  it('when there is no sample of an identifier', () => {
    expect(() => requireSample({}, 'PermitId')).toThrow(/^There is no sample of PermitId: /);
    expect(createMissingSampleError('Permit', 'x').message).toMatch(/^There is no sample of PermitId: x\./);
  });

  it('never in this project', async () => {
    expect(await findUnlistedSources(ROOT)).toEqual([]);
  });

  it('with the message in the table of CONTRIBUTING.md', async () => {
    const page = await readFile(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
    const [, table] = page.split('### What you may forget');
    for (const sentence of await findUnlistedSources(folder)) expect(table).toContain(sentence);
    expect(table).toContain('There is no sample of PermitId');
  });
});
