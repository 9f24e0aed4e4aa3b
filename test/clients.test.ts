import { execFile } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from './harness.ts';
import { freePort } from './support/ports.ts';

const run = promisify(execFile);
const CLIENTS = join(import.meta.dirname, 'clients');

let service: Service;
let baseUrl: string;
let folder: string;

beforeAll(async () => {
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

/** What the compiler has to say of some of the clients' files, in a folder of their own. */
async function problemsOf(
  name: string,
  files: string[],
  generate: (into: string) => Promise<unknown>,
): Promise<string> {
  const into = join(folder, name);
  await mkdir(into);
  for (const file of [...files, 'tsconfig.json', 'package.json']) await copyFile(join(CLIENTS, file), join(into, file));
  await generate(into);
  return run(join(CLIENTS, 'node_modules', '.bin', 'tsc'), ['--project', into]).then(
    () => '',
    (failure) => failure.stdout || failure.message,
  );
}

describe('a client of generated types', () => {
  it('compiles with those of openapi-typescript', async () => {
    const program = join(CLIENTS, 'node_modules', '.bin', 'openapi-typescript');
    const problems = await problemsOf('types', ['client.ts', 'story.ts'], (into) =>
      run(program, [join(folder, 'openapi.json'), '--output', join(into, 'openapi.d.ts')]),
    );
    expect(problems).toBe('');
  }, 60_000);

  it('compiles with those of @hey-api/openapi-ts', async () => {
    const program = join(CLIENTS, 'node_modules', '@hey-api', 'openapi-ts', 'bin', 'run.js');
    const problems = await problemsOf('sdk', ['generated.ts', 'openapi-ts.config.mjs'], async (into) => {
      const env = { ...process.env, OPENAPI: join(folder, 'openapi.json') };
      await run(process.execPath, [program], { cwd: into, env });
    });
    expect(problems).toBe('');
  }, 60_000);

  it("lives through the README's five minutes", async () => {
    const { clientId, clientSecret, builderIds } = service.demo('A');
    const { stdout } = await run(process.execPath, [
      join(CLIENTS, 'story.ts'),
      ...[baseUrl, clientId, clientSecret!, builderIds[0]!],
    ]);
    const seen = JSON.parse(stdout);
    seen.wrong.sort();
    expect(seen).toMatchObject({
      lifetime: 3600,
      builders: builderIds,
      statuses: ['IN_PROGRESS'],
      wrong: ['limit', 'offset'],
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
