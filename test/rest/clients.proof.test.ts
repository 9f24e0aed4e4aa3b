import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { type Service, startService } from '../support/harness.ts';
import { installTool } from '../support/install-tool.ts';
import { freePort } from '../support/ports.ts';
import { readBlock } from '../support/printed-blocks.ts';

const run = promisify(execFile);
const CLIENTS = join(import.meta.dirname, '../clients');
const GRAPHQL_CODEGEN = join(CLIENTS, 'node_modules/@graphql-codegen/cli/esm/bin.js');

let service: Service;
let baseUrl: string;
let folder: string;

beforeAll(async () => {
  installTool(CLIENTS);
  const port = await freePort();
  baseUrl = `http://localhost:${port}`;
  service = await startService({ BASE_URL: baseUrl });
  await service.app.listen({ host: 'localhost', port });
  folder = await mkdtemp(join(tmpdir(), 'clients-'));
  await writeFile(join(folder, 'openapi.json'), await (await fetch(`${baseUrl}/openapi.json`)).text());
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** Copies client files to a new folder, generates code there, and returns the errors of the compiler. */
async function generateAndCompile(
  name: string,
  files: string[],
  generate: (into: string) => Promise<unknown>,
): Promise<string> {
  const into = join(folder, name);
  await mkdir(into);
  for (const file of [...files, 'tsconfig.json', 'package.json']) await copyFile(join(CLIENTS, file), join(into, file));
  await generate(into);
  return compile(into);
}

/**
 * Lint of the earlier Redocly in openapi-typescript: routes without errors, and examples of a block by its alternatives, in each of which it
 * forbids the other fields. `openapi-lint.proof.test.ts` runs the present one.
 */
const LINT = /at least one `4XX` response|Example value must conform to the schema/;

/** Returns the errors of the compiler for a folder; empty if there are none. */
const compile = (into: string): Promise<string> =>
  run(join(CLIENTS, 'node_modules', '.bin', 'tsc'), ['--project', into]).then(
    () => '',
    (failure) => failure.stdout || failure.message,
  );

describe('a client of generated types', () => {
  it('compiles with those of openapi-typescript, which has no warning about the types (VER-4)', async () => {
    const program = join(CLIENTS, 'node_modules', '.bin', 'openapi-typescript');
    const warnings: string[] = [];
    const problems = await generateAndCompile('types', ['client.ts', 'walkthrough.ts'], async (into) => {
      const { stdout, stderr } = await run(program, [
        join(folder, 'openapi.json'),
        '--output',
        join(into, 'openapi.d.ts'),
      ]);
      warnings.push(...(stdout + stderr).split('\n').filter((line) => line.includes('⚠') && !LINT.test(line)));
    });
    expect(problems).toBe('');
    expect(warnings).toEqual([]);
  });

  it('has the types that the client package has, byte for byte: npm run sdk:types writes them', async () => {
    const program = join(CLIENTS, 'node_modules', '.bin', 'openapi-typescript');
    const fresh = join(folder, 'fresh.d.ts');
    await run(program, ['schema/openapi.json', '--output', fresh]);
    expect(await readFile('sdk/src/generated/openapi.ts', 'utf8')).toBe(await readFile(fresh, 'utf8'));
  });

  it('compiles with those of @hey-api/openapi-ts', async () => {
    const program = join(CLIENTS, 'node_modules', '@hey-api', 'openapi-ts', 'bin', 'run.js');
    const problems = await generateAndCompile('sdk', ['generated.ts', 'openapi-ts.config.mjs'], async (into) => {
      const env = { ...process.env, OPENAPI: join(folder, 'openapi.json') };
      await run(process.execPath, [program], { cwd: into, env });
    });
    expect(problems).toBe('');
  });

  it('follows the steps of docs/rest.md', async () => {
    const { clientId, clientSecret, builderIds } = service.findDemoClient('A');
    const { stdout } = await run(process.execPath, [
      join(CLIENTS, 'walkthrough.ts'),
      ...[baseUrl, clientId, clientSecret!, builderIds[0]!],
    ]);
    const seen = JSON.parse(stdout);
    seen.invalidFields.sort();
    expect(seen).toMatchObject({
      lifetime: 3600,
      builders: builderIds,
      statuses: ['IN_PROGRESS'],
      invalidFields: ['limit', 'offset'],
    });
    const [waiting] = (await service.databases.au1
      .fork()
      .execute(
        `select count(*)::int from timesheet where builder_id = ? and status = 'WAITING_REVIEW' and date >= '2026-01-01'`,
        [builderIds[0]],
      )) as { count: number }[];
    expect(new Set(seen.timesheets).size).toBe(waiting!.count);
    expect(seen.meetings[0]).toBe(seen.meetings[1]);
  });
});

describe('a GraphQL client of generated types', () => {
  let into: string;
  let token: string;
  let problems: string;

  beforeAll(async () => {
    token = await service.tokenOf('A');
    const headers = { authorization: `Bearer ${token}` };
    const schema = join(folder, 'schema.graphql');
    await writeFile(schema, await (await fetch(`${baseUrl}/graphql/schema.graphql`, { headers })).text());
    into = join(folder, 'graphql');
    problems = await generateAndCompile('graphql', ['graphql-client.ts'], () => generateGraphql(schema, into));
  });

  /** Runs the generator over a downloaded schema and the scalar map, without a network. */
  const generateGraphql = (schema: string, out: string) =>
    run(process.execPath, [GRAPHQL_CODEGEN, '--config', 'graphql-codegen.config.ts'], {
      cwd: CLIENTS,
      env: { ...process.env, SCHEMA: schema, OUT: out },
    });

  it('compiles with those of @graphql-codegen/cli and the scalar map', () => {
    expect(problems).toBe('');
  });

  it('has types from the configuration that docs/graphql.md prints', async () => {
    const project = join(folder, 'printed');
    await mkdir(join(project, 'src'), { recursive: true });
    await symlink(join(CLIENTS, 'node_modules'), join(project, 'node_modules'));
    await writeFile(join(project, 'codegen.ts'), readBlock('docs/graphql.md', 'codegen'));
    await copyFile(join(PACKAGE_ROOT, 'docs/graphql-codegen.ts'), join(project, 'graphql-codegen.ts'));
    await copyFile(join(folder, 'schema.graphql'), join(project, 'schema.graphql'));
    await copyFile(join(CLIENTS, 'graphql-client.ts'), join(project, 'src/graphql-client.ts'));
    await run(process.execPath, [GRAPHQL_CODEGEN, '--config', 'codegen.ts'], { cwd: project });
    expect(await readFile(join(project, 'src/graphql-types.ts'), 'utf8')).toMatch(/BuilderId: \{ input: `buil_/);
  });

  it('does not compile when an id is of another type', async () => {
    const program = `import { createMeeting, type GraphqlClient } from './graphql-client.ts';
export const send = (client: GraphqlClient) =>
  client.send(createMeeting, { builderId: 'buil_a1', projectId: 'sub_a1', title: 'Weekly site meeting' });
`;
    await writeFile(join(into, 'invalid.ts'), program);
    const found = await compile(into);
    expect(found).toMatch(/invalid\.ts\(3,\d+\): error TS2322: Type '"sub_a1"' is not assignable to type '`proj_/);
    expect(found.trim().split(/\n(?! )/)).toHaveLength(1);
    await writeFile(join(into, 'invalid.ts'), program.replace('sub_a1', 'proj_a1'));
    expect(await compile(into)).toBe('');
  });

  it('reads every page and writes under the types that it was compiled with', async () => {
    const builderId = service.findDemoClient('A').builderIds[0]!;
    const { stdout } = await run(process.execPath, [join(CLIENTS, 'graphql-client.ts'), baseUrl, token, builderId]);
    const { projects, meeting } = JSON.parse(stdout);
    const sql = `select count(*)::int from project where builder_id = ? and status = 'IN_PROGRESS'`;
    const [running] = (await service.databases.au1.fork().execute(sql, [builderId])) as { count: number }[];
    expect(new Set(projects).size).toBe(running!.count);
    expect(meeting).toMatchObject({ builderId, title: 'Weekly site meeting' });
  });
});
