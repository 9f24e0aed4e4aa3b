import { execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { REGIONS } from '../../src/shared/regions.ts';
import { freePort } from '../support/ports.ts';
import { MixedLoad } from './mixed-load.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';
import { countBy } from './statistics.ts';

const PROGRAM = process.env.PGBOUNCER ?? 'pgbouncer';
const SERVER = join(process.cwd(), 'dist/src/server.js');
const SETTINGS = join(process.cwd(), 'deploy/pgbouncer.ini');
/** Instances by pool mode. With session pooling each of their connections holds one of PgBouncer's. */
const INSTANCES = { session: 1, transaction: 2 };
export type PoolMode = keyof typeof INSTANCES;

/** Returns the version of PgBouncer; null where it is not installed. */
export function findPgbouncerVersion(): string | null {
  try {
    return execFileSync(PROGRAM, ['--version'], { encoding: 'utf8' }).split('\n', 1)[0]!;
  } catch {
    return null;
  }
}

/** Returns the reason why the proof cannot run; null if it can. */
export function findPgbouncerProblem(): string | null {
  const version = findPgbouncerVersion();
  if (version === null) return `${PROGRAM} is not installed; PGBOUNCER names another program`;
  const [, major, minor] = /^PgBouncer (\d+)\.(\d+)/.exec(version) ?? [];
  const isNewEnough = Number(major) > 1 || Number(minor) >= 21;
  return isNewEnough ? null : `${version} is installed, and 1.21 is needed; PGBOUNCER names another program`;
}

/**
 * Starts PgBouncer with the settings of deploy/pgbouncer.ini for the user of the environment's databases. Returns the settings of instances
 * behind it.
 */
export async function startPgbouncer(environment: ProofEnvironment, mode: PoolMode): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-pgbouncer-'));
  environment.onClose(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  const port = await freePort();
  const databases = REGIONS.map((region) => {
    const { hostname, port } = new URL(environment.postgres.directUrl(region));
    const { username, password } = new URL(environment.settings.DATABASE_URL_AU1!);
    return `${region} = host=${hostname} port=${port} user=${username} password=${password}`;
  });
  const file = join(folder, 'pgbouncer.ini');
  let settings = (await readFile(SETTINGS, 'utf8')).replace('pool_mode = transaction', `pool_mode = ${mode}`);
  // Earlier versions, which can pool by session, do not know this setting.
  if (findPgbouncerProblem()) settings = settings.replace(/^max_prepared_statements.*\n/m, '');
  const own = ['auth_type = any', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, 'unix_socket_dir ='];
  await writeFile(file, `[databases]\n${databases.join('\n')}\n\n${settings}${own.join('\n')}\n`);
  // PgBouncer refuses to run as root.
  const user = process.getuid!() === 0 ? ['-u', 'postgres'] : [];
  const child = spawn(PROGRAM, [...user, file], { stdio: ['ignore', 'ignore', 'pipe'] });
  environment.onClose(() => child.kill('SIGQUIT'));
  let output = '';
  child.stderr.on('data', (chunk) => (output += chunk));
  while (!output.includes('process up')) {
    await Promise.race([once(child.stderr, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`PgBouncer does not start: ${output}`);
  }
  const settingsOf = REGIONS.flatMap((region) => {
    const name = `DATABASE_URL_${region.toUpperCase()}`;
    const direct = environment.settings[name]!;
    return [
      [name, Object.assign(new URL(direct), { port: String(port) }).href],
      [`${name}_DIRECT`, direct],
    ];
  });
  return Object.fromEntries(settingsOf);
}

/** Starts the service in a pool mode that cannot keep its settings. Returns those that the error message lists, as `name=value`. */
async function findMissingSettings(env: Record<string, string>): Promise<string[]> {
  const started = promisify(execFile)(process.execPath, [SERVER], { env: { PATH: process.env.PATH!, ...env } });
  const { stderr } = await started.then(
    () => ({ stderr: 'it started' }),
    (error: { stderr: string }) => error,
  );
  const listed = /so ([^\n]*?) cannot be set/.exec(stderr)?.[1];
  if (listed === undefined) throw new Error(`The service must name the settings that are missing: ${stderr}`);
  return listed.split(/, | and /);
}

/** Runs load through PgBouncer in both pool modes with the settings of deploy/pgbouncer.ini. No request may fail and no write be lost. */
export async function pgbouncer({ seconds, log }: { seconds: number; log: Log }) {
  const environment = await ProofEnvironment.start();
  const problems: string[] = [];
  const figures: string[] = [];
  try {
    for (const mode of Object.keys(INSTANCES) as PoolMode[]) {
      const env = await startPgbouncer(environment, mode);
      if (mode === 'transaction') {
        const settings = await findMissingSettings({
          ...environment.settings,
          ...env,
          PORT: String(await freePort()),
          WORKERS: '1',
        });
        const { username } = new URL(environment.settings.DATABASE_URL_AU1!);
        for (const setting of settings) {
          const [name, value] = setting.split('=');
          await environment.database().fork().execute(`alter role "${username}" set ${name} = '${value}'`);
        }
        // Sessions that PgBouncer has opened keep the settings of their start.
        const end = `select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and datname in ('au1', 'us1')`;
        await environment.database().fork().execute(end);
        log(`refused to start without ${settings.join(', ')}; set on the user`);
      }
      for (let count = 0; count < INSTANCES[mode]; count++) await environment.addInstance(env);
      const origins = () => environment.instances.map(({ origin }) => origin);
      const load = await MixedLoad.start(environment, {
        origins,
        run: mode,
        concurrency: 4,
        pause: 50,
        readsPerSecond: 50,
      });
      await sleep(seconds * 1000);
      await load.end();
      const { requests } = load.recorder;
      for (const { operation, status, problem } of requests.filter(({ status }) => status < 200 || status > 299)) {
        problems.push(`${mode}, ${operation}: ${status} ${problem}`);
      }
      const storage = environment.openStorage();
      problems.push(...(await load.verifyWrites(environment.database(), storage)));
      for (const instance of environment.instances.splice(0)) await instance.stop();
      const statuses = JSON.stringify(countBy(requests, ({ status }) => status));
      figures.push(
        `${mode} pooling: ${requests.length} requests ${statuses}, ${load.acknowledged} acknowledged writes`,
      );
      log(figures.at(-1)!);
    }
    return { problems, figures: `${findPgbouncerVersion()}; ${figures.join('; ')}` };
  } finally {
    await environment.close(log);
  }
}
