import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { updateSchemaDocuments } from '../../src/cli/services/schema-documents.ts';
import { installTool } from '../support/install-tool.ts';

const ROOT = join(import.meta.dirname, '../..');
const LINTERS = join(ROOT, 'test/tools/openapi');
const RULES = ['redocly.yaml', '.redocly.lint-ignore.yaml', '.spectral.yaml'];

const run = promisify(execFile);

let folder: string;

/** Writes the current document and the rules to a temporary folder. */
beforeAll(async () => {
  installTool(LINTERS);
  folder = await mkdtemp(join(tmpdir(), 'openapi-lint-'));
  for (const file of RULES) await copyFile(join(ROOT, file), join(folder, file));
  await mkdir(join(folder, 'schema'));
  await updateSchemaDocuments({ check: false }, join(folder, 'schema'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Returns the output of a linter, also when it finds problems. */
async function lint(program: string, args: string[]): Promise<string> {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const bin = join(LINTERS, 'node_modules', '.bin', program);
  const { stdout } = await run(bin, [...args, 'schema/openapi.json'], { cwd: folder, env }).catch((failure) => failure);
  return stdout;
}

describe('the OpenAPI document', () => {
  it('has no problem under the recommended rules of Redocly', async () => {
    const { totals, problems } = JSON.parse(await lint('redocly', ['lint', '--format=json']));
    expect(problems).toEqual([]);
    expect(totals).toEqual({ errors: 0, warnings: 0, ignored: 3 });
  });

  it('has no problem under the recommended rules of Spectral', async () => {
    expect(JSON.parse(await lint('spectral', ['lint', '--format=json', '--quiet', '--fail-severity=hint']))).toEqual(
      [],
    );
  });
});
