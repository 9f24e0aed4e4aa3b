import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Balancer } from './balancer.ts';
import type { Instance } from './instance.ts';
import { MixedLoad } from './mixed-load.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';
import { countBy } from './statistics.ts';

const run = promisify(execFile);
const INSTANCES = 2;
/** Milliseconds of load between two steps. */
const STEP_MS = 3_000;

const git = (...args: string[]) =>
  run('git', args).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );

/** Returns the newest tag before this revision; null before the first release that has the initial migration of this one, v0.2.0. */
export async function findPreviousRelease(): Promise<string | null> {
  const tag = await git('describe', '--tags', '--abbrev=0', '--match', 'v*', '--exclude', 'v0.1.*', 'HEAD^');
  return tag || null;
}

/** Builds the revision in a separate folder, with the packages that are installed here. Returns the folder. */
async function buildRevision(revision: string, folder: string): Promise<string> {
  const source = join(folder, 'previous');
  await mkdir(source);
  const archive = join(folder, 'previous.tar');
  await run('git', ['archive', '--output', archive, revision]);
  await run('tar', ['-xf', archive, '-C', source]);
  await symlink(join(process.cwd(), 'node_modules'), join(source, 'node_modules'));
  await run(process.execPath, [join(source, 'node_modules/.bin/tsc'), '-p', source]).catch((error) => {
    throw new Error(`${revision} does not compile with the packages of this revision: ${error.stdout}`);
  });
  return source;
}

/**
 * Runs the previous release under load, migrates the schema, and replaces the instances by this release and then by the previous one again,
 * on the new schema. No request may fail, and no acknowledged write be lost.
 */
export async function upgrade({ from, log }: { from: string; log: Log }) {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-upgrade-'));
  const problems: string[] = [];
  let environment: ProofEnvironment | undefined;
  try {
    const previous = await buildRevision(from, folder);
    log(`built ${from}`);
    environment = await ProofEnvironment.start({ TRUST_PROXY: '1' }, null, {
      migrateWith: join(previous, 'dist/src/cli.js'),
    });
    const balancer = await Balancer.start();
    environment.onClose(() => balancer.close());
    const release = { previous: join(previous, 'dist/src/server.js'), current: undefined };
    for (let count = 0; count < INSTANCES; count++) {
      await balancer.add((await environment.addInstance({}, [], release.previous)).origin);
    }
    const options = { origins: () => [balancer.origin], run: 'upgrade', concurrency: 1, pause: 250, readsPerSecond: 5 };
    const load = await MixedLoad.start(environment, options);
    await sleep(STEP_MS);

    const cli = join(process.cwd(), 'dist/src/cli.js');
    const { stdout } = await run(process.execPath, [cli, 'migrate', 'up', '--json'], {
      env: { PATH: process.env.PATH!, ...environment.settings },
    });
    const migrations: string[] = JSON.parse(stdout).applied.au1;
    log(`${migrations.length} migrations applied under load: ${migrations.join(', ') || 'none'}`);
    await sleep(STEP_MS);
    for (const [name, program] of Object.entries({ upgraded: release.current, 'rolled back': release.previous })) {
      for (let count = 0; count < INSTANCES; count++) await replaceInstance(environment, balancer, program, problems);
      log(`${name}: ${INSTANCES} instances replaced`);
      await sleep(STEP_MS);
    }
    await load.end();

    const { requests } = load.recorder;
    for (const { operation, status, problem } of requests.filter(({ status }) => status < 200 || status > 299)) {
      problems.push(`${operation}: ${status} ${problem}`);
    }
    const storage = environment.openStorage();
    problems.push(...(await load.verifyWrites(environment.database(), storage)));
    const statuses = JSON.stringify(countBy(requests, ({ status }) => status));
    return {
      problems,
      figures:
        `from ${from} and back: ${requests.length} requests ${statuses}, ${load.acknowledged} acknowledged writes, ` +
        `${migrations.length} migrations, ${2 * INSTANCES} instances replaced`,
    };
  } finally {
    await environment?.close(log);
    await rm(folder, { recursive: true, force: true });
  }
}

async function replaceInstance(
  environment: ProofEnvironment,
  balancer: Balancer,
  program: string | undefined,
  problems: string[],
): Promise<void> {
  const old: Instance = environment.instances.shift()!;
  await balancer.add((await environment.addInstance({}, [], program)).origin);
  const code = await old.stop();
  balancer.remove(old.origin);
  if (code !== 0) problems.push(`a stopped instance ended with ${code}: ${old.output.slice(-300)}`);
}
