import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDatabase } from '../setup/database.ts';
import { copyCheckout, ROOT } from '../support/contributing-guide.ts';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from '../support/exit-with-parent.ts';
import { freePort } from '../support/ports.ts';
import { readBlock } from '../support/printed-blocks.ts';

const INSTALL_MS = 600_000;
const run = promisify(execFile);

let folder: string;
let checkout: string;
let installed: string;
let program: string;
let env: Record<string, string>;
const drops: (() => Promise<void>)[] = [];

/** Files of a composition, where deploy/compose.yaml and prometheus.yaml look for them. */
const SECRETS = ['deploy/.env', 'deploy/certificate.pem.key', 'deploy/prometheus/metrics-token'];

/** Settings of npm, vitest and the project, which an operator's shell does not have. */
const NPM = /^(npm_|NODE_ENV$|VITEST|TEST$|INIT_CWD$)/;

const environmentOf = (without: RegExp) =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !without.test(name)));

/**
 * Packs a copy of the checkout and installs the package, by the commands of docs/operations.md. The copy has the packages of this checkout,
 * which `npm ci` has installed.
 */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-package-'));
  checkout = copyCheckout();
  const prefix = join(folder, 'installed');
  const [first, ...commands] = readBlock('docs/operations.md', 'commands:package').split(' && ');
  expect(first).toBe('npm ci');
  for (const secret of SECRETS) await writeFile(join(checkout, secret), 'secret');
  const npmEnv = { ...environmentOf(NPM), npm_config_prefix: prefix, npm_config_audit: 'false' };
  await run('bash', ['-euc', commands.join(' && ')], { cwd: checkout, env: npmEnv, maxBuffer: 2 ** 26 });
  installed = join(prefix, 'lib/node_modules/builder-integration-api');
  program = join(prefix, 'bin', 'builder-api');
  const databases = await Promise.all([createDatabase('template1'), createDatabase('template1')]);
  drops.push(...databases.map(({ drop }) => drop));
  env = {
    PATH: process.env.PATH!,
    DATABASE_URL_AU1: databases[0]!.url,
    DATABASE_URL_US1: databases[1]!.url,
    PORT: String(await freePort()),
  };
}, INSTALL_MS);

afterAll(async () => {
  await Promise.all(drops.map((drop) => drop()));
  for (const path of [folder, checkout]) await rm(path, { recursive: true, force: true });
});

const cli = async (...args: string[]) => {
  const { stdout } = await run(process.execPath, [program, ...args, '--json'], { env, cwd: folder });
  return JSON.parse(stdout);
};

describe('the packed project, installed by the commands of docs/operations.md', () => {
  it('contains compiled code alone, and the versions of package-lock.json', async () => {
    const modules = join(installed, 'node_modules');
    await expect(access(join(modules, 'typescript'))).rejects.toThrow('ENOENT');
    await expect(access(join(installed, 'dist', 'test'))).rejects.toThrow('ENOENT');
    const { packages } = JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8'));
    for (const name of ['fastify', 'avvio', 'graphql', 'pg', 'pg-protocol']) {
      const text = await readFile(join(modules, name, 'package.json'), 'utf8');
      expect([name, JSON.parse(text).version]).toEqual([name, packages[`node_modules/${name}`].version]);
    }
  });

  it('contains no secret that an operator keeps in the checkout', async () => {
    const found = await readdir(join(installed, 'deploy'), { recursive: true });
    expect(found).toContain('prometheus/prometheus.yaml');
    expect(found.filter((path) => SECRETS.includes(`deploy/${path}`))).toEqual([]);
  });

  it('migrates the databases and runs operator commands', async () => {
    const { applied } = await cli('migrate', 'up');
    expect(applied.au1.length).toBeGreaterThan(0);
    expect(applied.us1).toEqual(applied.au1);
    expect(await cli('integrator', 'create', '--name', 'Site Sync')).toMatchObject({ name: 'Site Sync' });
  });

  it('contains what the simulator of gates uses of the client package', async () => {
    const simulate = ['gate', 'simulate', '--project', 'proj_a1'];
    await expect(cli(...simulate)).rejects.toMatchObject({ stderr: expect.stringContaining('--client: is required') });
    await expect(access(join(installed, 'dist/sdk/src/gate/queue.js'))).resolves.toBeUndefined();
    await expect(access(join(installed, 'sdk'))).rejects.toThrow('ENOENT');
  });

  it('calls itself builder-api in its help', async () => {
    const { stdout } = await run(process.execPath, [program, '--help'], { env });
    expect(stdout).toContain('Usage: builder-api <command> [options]');
    expect(stdout).toContain('$ builder-api serve');
    expect(stdout).not.toContain('npm run');
  });

  it('serves requests with the two database URLs alone', async () => {
    const { integratorId } = await cli('integrator', 'create', '--name', 'Gate');
    const scope = 'read:builders';
    const client = ['client', 'create', '--integrator', integratorId, '--name', 'Gate', '--scope', scope];
    const { clientId, clientSecret } = await cli(...client);
    const service = spawn(process.execPath, [...EXIT_WITH_PARENT, program, 'serve'], {
      env,
      cwd: folder,
      stdio: STDIO_WITH_PARENT,
    });
    const ended = once(service, 'exit');
    const origin = `http://localhost:${env.PORT}`;
    const ready = () => fetch(`${origin}/health/ready`).then(({ status }) => status);
    await vi.waitUntil(
      () =>
        ready().then(
          (status) => status === 200,
          () => false,
        ),
      { timeout: 50_000 },
    );
    const response = await fetch(`${origin}/oauth/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}` },
      body: new URLSearchParams({ grant_type: 'client_credentials', audience: origin, scope }),
    });
    const { access_token: token } = (await response.json()) as { access_token: string };
    const guide = await fetch(`${origin}/docs/guides/webhooks`);
    expect(await guide.text()).toContain('<h1>Webhooks</h1>');
    const builders = await fetch(`${origin}/builders`, { headers: { authorization: `Bearer ${token}` } });
    expect(await builders.json()).toMatchObject({ data: [], meta: { totalCount: 0 } });
    service.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it('reports in one line that Node is too old', async () => {
    const preload = join(folder, 'old-node.cjs');
    await writeFile(preload, `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });`);
    const result = run(process.execPath, ['--require', preload, program, 'serve'], { env });
    await expect(result).rejects.toMatchObject({
      code: 1,
      stdout: '',
      stderr: `builder-api needs Node 22.18 or later; ${process.execPath} is Node 20.20.2.\n`,
    });
  });
});
