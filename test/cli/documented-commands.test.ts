import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';
import { freePort } from '../support/ports.ts';

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, '../..');

let service: Service;
let port: number;
let folder: string;

beforeAll(async () => {
  port = await freePort();
  service = await startService({ BASE_URL: `http://localhost:${port}` });
  await service.app.listen({ host: 'localhost', port });
  folder = await mkdtemp(join(tmpdir(), 'documented-commands-'));
  await mkdir(join(folder, '.data'));
  await writeFile(join(folder, '.data', 'demo.json'), JSON.stringify(inject('demo')));
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** The shell commands between two markers of a page, with the address of this test's service. */
async function commandsOf(page: string, name: string): Promise<string> {
  const text = await readFile(join(ROOT, page), 'utf8');
  const [begin, end] = [`<!-- commands:${name}:begin -->\n\`\`\`sh\n`, `\`\`\`\n<!-- commands:${name}:end -->`];
  const commands = text.split(begin)[1]?.split(end)[0];
  if (commands === undefined) throw new Error(`${page} has no commands between the markers commands:${name}.`);
  return commands.replaceAll('localhost:4000', `localhost:${port}`);
}

/** Runs the page's commands after those that fetch a token, beside the demo credentials. Returns the JSON documents that they print. */
async function runCommands(page: string, name: string) {
  const script = `${await commandsOf(page, 'token')}\n${await commandsOf(page, name)}`;
  const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', script], { cwd: folder });
  const documents = stdout.trim().replace(/\}\s*\{"(data|errors)"/g, '}\n{"$1"');
  return documents.split('\n').map((line) => JSON.parse(line));
}

const namesOf = (rows: { name: string }[]) => rows.map(({ name }) => name);

describe('the first call of the README', () => {
  it('reads the running projects of a builder, alike in REST and GraphQL', async () => {
    const [rest] = await runCommands('README.md', 'rest');
    const [graphql] = await runCommands('README.md', 'graphql');
    expect(graphql.errors).toBeUndefined();
    expect(rest.meta.totalCount).toBeGreaterThan(0);
    expect(namesOf(graphql.data.projects.data)).toEqual(namesOf(rest.data));
    expect(graphql.data.builder.name).toEqual(expect.any(String));
  });
});

describe('the commands of docs/rest.md', () => {
  it('list builders, projects and timesheets, and show the errors of a wrong request', async () => {
    const [builders, projects, timesheets, wrong] = await runCommands('docs/rest.md', 'reading');
    expect(builders.data.map(({ id }: { id: string }) => id)).toEqual(service.findDemoClient('A').builderIds);
    expect(new Set(projects.data.map(({ status }: { status: string }) => status))).toEqual(new Set(['IN_PROGRESS']));
    expect(timesheets.meta).toMatchObject({ offset: 0, limit: 5 });
    expect(timesheets.data.length).toBeGreaterThan(0);
    expect(wrong.errors.map(({ fieldName }: { fieldName: string }) => fieldName).sort()).toEqual(['limit', 'offset']);
  });
});
