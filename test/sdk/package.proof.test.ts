import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'rolldown';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGateFixture } from '../support/attendance.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';
import { readBlocks } from '../support/printed-blocks.ts';

const ROOT = join(import.meta.dirname, '../..');
const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');
const run = promisify(execFile);

let service: Service;
let folder: string;

/** The settings of npm that this test itself runs with are not those of an integrator's shell. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('npm_')));

/** A program of an integrator. It needs no types of Node, so that it is also one for browsers. */
const PROGRAM = `import { createClient } from '@builder-integration/client';
import { GateQueue, type GateStore } from '@builder-integration/client/gate';

export async function record(options: Parameters<typeof createClient>[0], store: GateStore, ids: string[]) {
  const client = createClient(options);
  const [builderId, projectId, workerId] = ids as [string, string, string];
  const { data } = await client.projects.list({ builderId, limit: 1 }).page();
  const name: string = data[0]!.name;
  const gate = await GateQueue.open({ client, builderId, projectId, store });
  await gate.signOn(workerId, new Date('2026-05-20T21:00:00Z'));
  await gate.deliver();
  return { name, statuses: gate.results.map(({ status }) => status) };
}
`;
const MAIN = `import { createFileStore } from '@builder-integration/client/gate/node';
import { record } from './program.js';
declare const process: { argv: string[] };

const [, , options, ...ids] = process.argv;
console.log(JSON.stringify(await record(JSON.parse(options!), createFileStore('gate'), ids)));
`;
const PAGE = `import { createIndexedDbStore } from '@builder-integration/client/gate/browser';
import { record } from './program.js';

Object.assign(globalThis, { record, createIndexedDbStore });
`;

/** What the examples of the README use of the first one. */
const EXCERPT = `import type { Client } from '@builder-integration/client';
declare const client: Client;
declare const builderId: string, projectId: string, workerId: string;
`;

/** Packs the client and installs the package in an empty folder, as an integrator does. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'client-package-'));
  await run('npm', ['run', '--silent', 'sdk:pack', '--', '--silent', '--pack-destination', folder], { cwd: ROOT, env });
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))!;
  folder = join(folder, 'installed');
  await mkdir(folder);
  await run('npm', ['install', '--no-audit', '--no-fund', `../${tarball}`], { cwd: folder, env });
  for (const [name, text] of Object.entries({ program: PROGRAM, main: MAIN, page: PAGE }))
    await writeFile(join(folder, `${name}.ts`), text);
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  service = await startService();
});

afterAll(async () => {
  await service?.stop();
  await rm(join(folder, '..'), { recursive: true, force: true });
});

/** Returns the errors of the compiler, which checks the types of the package too. */
const compile = (files: string[], settings: Record<string, string>) => {
  const options = { target: 'es2024', lib: 'es2024,dom,dom.iterable,dom.asynciterable', ...settings };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  return run(process.execPath, [TSC, '--strict', '--skipLibCheck', 'false', ...args, ...files], { cwd: folder }).then(
    () => '',
    ({ stdout }) => stdout,
  );
};

describe('the packed client, installed in an empty folder', () => {
  it('brings compiled code, its README and two dependencies', async () => {
    const modules = join(folder, 'node_modules');
    const installed = join(modules, '@builder-integration/client');
    expect((await readdir(installed)).sort()).toEqual(['README.md', 'dist', 'package.json']);
    const files = (await readdir(join(installed, 'dist'), { recursive: true })).filter((name) => name.includes('.'));
    expect(files.filter((name) => !/\.(js|d\.ts)$/.test(name))).toEqual([]);
    const { dependencies } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect(Object.keys(dependencies)).toEqual(['openapi-fetch', 'standardwebhooks']);
    const { packages } = JSON.parse(await readFile(join(modules, '.package-lock.json'), 'utf8'));
    expect(Object.keys(packages).sort()).toEqual(
      [
        '@builder-integration/client',
        '@stablelib/base64',
        'fast-sha256',
        'openapi-fetch',
        'openapi-typescript-helpers',
        'standardwebhooks',
      ].map((name) => `node_modules/${name}`),
    );
  });

  it('has types that compile with a bundler and with Node', async () => {
    const files = ['program.ts', 'main.ts', 'page.ts'];
    expect(await compile(files, { module: 'esnext', moduleResolution: 'bundler', types: '' })).toBe('');
    expect(await compile(files, { module: 'node16', moduleResolution: 'node16', types: '' })).toBe('');
  });

  it('has the types that programs of the documents use', async () => {
    const pages = ['docs/tutorial.md', 'docs/stay-in-sync.md', 'docs/attendance.md', 'sdk/README.md'];
    const programs = pages.flatMap((page) => readBlocks(page).filter(({ language }) => language === 'ts'));
    const files = programs.map((_, index) => `printed-${index}.ts`);
    for (const [index, { text }] of programs.entries()) {
      const isExcerpt = !text.includes('createClient(');
      await writeFile(join(folder, files[index]!), isExcerpt ? EXCERPT + text : text);
    }
    expect(programs.length).toBeGreaterThan(12);
    const settings = { module: 'nodenext', types: 'node', typeRoots: join(ROOT, 'node_modules/@types') };
    expect(await compile(files, settings)).toBe('');
  });

  it('runs in Node', async () => {
    const baseUrl = await service.app.listen({ port: 0 });
    const { clientId, clientSecret } = service.findDemoClient('A');
    const scopes = ['read:projects', 'write:sign_on_events'];
    const { builderId, projectId, workers } = createGateFixture();
    const options = JSON.stringify({ baseUrl, audience: BASE_URL, clientId, clientSecret, scopes });
    const args = ['main.js', options, builderId, projectId, workers.active[0]!];
    const { stdout, stderr } = await run(process.execPath, args, { cwd: folder });
    expect(stderr).toBe('');
    expect(JSON.parse(stdout)).toEqual({ name: expect.any(String), statuses: ['APPLIED'] });
  });

  it('compiles for browsers without a module of Node', async () => {
    const { output } = await build({
      input: join(folder, 'page.js'),
      platform: 'browser',
      write: false,
      onLog: (_level, { message }) => {
        throw new Error(message);
      },
    });
    expect(output).toHaveLength(1);
    expect([...output[0].imports, ...output[0].dynamicImports]).toEqual([]);
  });
});
