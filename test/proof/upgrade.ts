import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/config.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { Balancer } from './balancer.ts';
import { countBy } from './exchange.ts';
import type { Instance } from './instance.ts';
import { MixedLoad } from './load.ts';
import { ProofSite, type Say } from './site.ts';

const run = promisify(execFile);
const INSTANCES = 2;
/** Milliseconds of load between two steps. */
const STEP_MS = 3_000;

const git = (...args: string[]) =>
  run('git', args).then(
    ({ stdout }) => stdout.trim(),
    () => '',
  );

/**
 * The newest tag before this revision. Without tags, the commit that gave the changelog its newest version (VER-9); null in a clone without
 * history.
 */
export async function findPreviousRelease(): Promise<string | null> {
  const tag = await git('describe', '--tags', '--abbrev=0', 'HEAD^');
  if (tag) return tag;
  const heading = /^## \d+\.\d+\.\d+ /m.exec(await git('show', 'HEAD^:CHANGELOG.md'))?.[0];
  if (!heading) return null;
  const commits = await git('log', '--reverse', '--format=%h', `-S${heading}`, 'HEAD^', '--', 'CHANGELOG.md');
  return commits.split('\n', 1)[0] || null;
}

/** Builds the revision in a folder of its own, with the packages that are installed here. Returns the folder. */
async function buildRevision(revision: string, folder: string): Promise<string> {
  const source = join(folder, 'previous');
  await mkdir(source);
  const archive = join(folder, 'previous.tar');
  await run('git', ['archive', '--output', archive, revision]);
  await run('tar', ['-xf', archive, '-C', source]);
  for (const modules of ['node_modules', 'test/clients/node_modules']) {
    await symlink(join(process.cwd(), modules), join(source, modules));
  }
  await run(process.execPath, [join(source, 'node_modules/.bin/tsc'), '-p', source]).catch((error) => {
    throw new Error(`${revision} does not compile with the packages of this revision: ${error.stdout}`);
  });
  return source;
}

/**
 * The previous release serves under load, the schema is migrated, the instances are replaced by this release and then by the previous one
 * again, on the new schema. No request fails, and nothing that was acknowledged is lost.
 */
export async function upgrade({ from, say }: { from: string; say: Say }) {
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-upgrade-'));
  const wrong: string[] = [];
  let site: ProofSite | undefined;
  try {
    const previous = await buildRevision(from, folder);
    say(`built ${from}`);
    site = await ProofSite.start({ TRUST_PROXY: '1' }, null, { migrateWith: join(previous, 'dist/src/cli.js') });
    const balancer = await Balancer.start();
    site.afterwards(() => balancer.close());
    const release = { previous: join(previous, 'dist/src/server.js'), current: undefined };
    for (let count = 0; count < INSTANCES; count++) {
      await balancer.add((await site.addInstance({}, [], release.previous)).origin);
    }
    const options = { origins: () => [balancer.origin], run: 'upgrade', atATime: 1, pause: 250, readsPerSecond: 5 };
    const load = await MixedLoad.start(site, options);
    await sleep(STEP_MS);

    const cli = join(process.cwd(), 'dist/src/cli.js');
    const { stdout } = await run(process.execPath, [cli, 'migrate', 'up', '--json'], {
      env: { PATH: process.env.PATH!, ...site.env },
    });
    const migrations: string[] = JSON.parse(stdout).applied.au1;
    say(`${migrations.length} migrations applied under load: ${migrations.join(', ') || 'none'}`);
    await sleep(STEP_MS);
    for (const [name, program] of Object.entries({ upgraded: release.current, 'rolled back': release.previous })) {
      for (let count = 0; count < INSTANCES; count++) await replaceOne(site, balancer, program, wrong);
      say(`${name}: ${INSTANCES} instances replaced`);
      await sleep(STEP_MS);
    }
    await load.end();

    const { all } = load.exchanges;
    for (const { operation, status, problem } of all.filter(({ status }) => status < 200 || status > 299)) {
      wrong.push(`${operation}: ${status} ${problem}`);
    }
    const storage = openStorages(loadConfig(site.env), { secrets: [site.env.TOKEN_KEY!], clock: Date }).au1;
    wrong.push(...(await load.differences(site.database(), storage)));
    const statuses = JSON.stringify(countBy(all, ({ status }) => status));
    return {
      wrong,
      figures:
        `from ${from} and back: ${all.length} requests ${statuses}, ${load.acknowledged} acknowledged writes, ` +
        `${migrations.length} migrations, ${2 * INSTANCES} instances replaced`,
    };
  } finally {
    await site?.close(say);
    await rm(folder, { recursive: true, force: true });
  }
}

async function replaceOne(
  site: ProofSite,
  balancer: Balancer,
  program: string | undefined,
  wrong: string[],
): Promise<void> {
  const old: Instance = site.instances.shift()!;
  await balancer.add((await site.addInstance({}, [], program)).origin);
  const code = await old.stop();
  balancer.remove(old.origin);
  if (code !== 0) wrong.push(`a stopped instance ended with ${code}: ${old.output.slice(-300)}`);
}
