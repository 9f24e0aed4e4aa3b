import { execFile, execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadConfig } from '../../src/config.ts';
import { ForeignBucketError } from '../../src/domain/uploads/bucket-owner.ts';
import { sweep } from '../../src/domain/uploads/sweep.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { openStorages } from '../../src/storage/storage.ts';
import { MixedLoad } from './load.ts';
import { ProofSite, type Say } from './site.ts';

const run = promisify(execFile);
const ROOT = process.cwd();
const PAGE = join(ROOT, 'docs/backup.md');
const PROGRAM = join(ROOT, 'dist/src/bin.cjs');
const DAY = 86_400_000;

/** Why the proof cannot run; null when it can. */
export const psqlMissing: string | null = (() => {
  try {
    execFileSync('psql', ['--version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'psql is not installed';
  }
})();

/** Runs the commands between the page's markers, with the values of their variables. */
async function runCommands(name: string, env: Record<string, string>): Promise<string> {
  const page = await readFile(PAGE, 'utf8');
  const [begin, end] = [`<!-- commands:${name}:begin -->\n\`\`\`sh\n`, `\`\`\`\n<!-- commands:${name}:end -->`];
  const commands = page.split(begin)[1]?.split(end)[0];
  if (commands === undefined) throw new Error(`${PAGE} has no commands between the markers commands:${name}.`);
  const program = `builder-api() { ${JSON.stringify(process.execPath)} ${JSON.stringify(PROGRAM)} "$@"; }\n`;
  const { stdout } = await run('bash', ['-eu', '-o', 'pipefail', '-c', program + commands], {
    env: { PATH: process.env.PATH!, LC_ALL: 'C', ...env },
    maxBuffer: 64 * 1024 * 1024,
  });
  return stdout;
}

/**
 * Follows docs/backup.md: base backup and log of a loaded server, copy of the store; both are deleted, and restored to a moment between
 * two times of load.
 */
export async function restore({ seconds, say }: { seconds: number; say: Say }) {
  const site = await ProofSite.start({ LOG_LEVEL: 'warn' });
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-restore-'));
  site.afterwards(() => rm(folder, { recursive: true, force: true }));
  const wrong: string[] = [];
  try {
    await chmod(folder, 0o711);
    const env: Record<string, string> = {
      ...{ DATABASE: site.postgres.url('postgres'), PGDATA: join(site.postgres.dataDir, 'postgres') },
      ...{ ARCHIVE: join(folder, 'archive'), BACKUP: join(folder, 'backup'), STORE: join(site.dataDir, 'storage') },
    };
    await mkdir(env.ARCHIVE!);
    await chmod(env.ARCHIVE!, 0o777);
    await mkdir(env.BACKUP!);
    await runCommands('archive', env);
    await site.postgres.restart();
    await site.addInstance();
    const origins = () => site.instances.map(({ origin }) => origin);
    const load = (name: string) =>
      MixedLoad.start(site, { origins, run: name, atATime: 1, pause: 200, readsPerSecond: 0 });

    const before = await load('before');
    await sleep((seconds * 1000) / 2);
    await runCommands('base-backup', env);
    say('base backup taken under load');
    await sleep((seconds * 1000) / 2);
    await before.end();
    const execute = (sql: string) => site.database().fork().execute<{ value: string }[]>(sql);
    const [target] = await execute(`select clock_timestamp()::text as value`);
    await sleep(1_000);
    // Written after the moment: none of it may be there.
    const after = await load('after');
    await sleep(2_000);
    await after.end();
    const [last] = await execute(`select pg_walfile_name(pg_switch_wal()) as value`);
    while (!(await readdir(env.ARCHIVE!)).includes(last!.value)) await sleep(100);
    await runCommands('store', env);
    say(`${before.acknowledged} writes before ${target!.value}, ${after.acknowledged} after it`);

    for (const instance of site.instances.splice(0)) await instance.kill();
    await site.postgres.stop();
    for (const name of await readdir(env.PGDATA!)) await rm(join(env.PGDATA!, name), { recursive: true });
    await rm(env.STORE!, { recursive: true });
    say('database and store deleted');

    const startedAt = performance.now();
    await runCommands('restore', { ...env, TARGET: target!.value });
    await site.postgres.restart();
    while ((await execute(`select pg_is_in_recovery()::text as value`))[0]!.value === 'true') await sleep(100);
    const restoredSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const verified = await runCommands('verify', { ...site.env, ...env });
    if (verified.match(/^Complete\.$/gm)?.length !== REGIONS.length) wrong.push(`backup verify: ${verified}`);

    const storage = openStorages(loadConfig(site.env), { secrets: [site.env.TOKEN_KEY!], clock: Date }).au1;
    wrong.push(...(await before.differences(site.database(), storage)));
    const found = await rowsOf(site, 'after');
    if (found > 0) wrong.push(`${found} events written after the moment are there`);
    if ((await rowsOf(site, 'before')) === 0) wrong.push('no event written before the moment is there');
    const swept = sweep(site.database(), storage, Date.now() + 2 * DAY);
    const refusal = await swept.then(
      () => null,
      (error) => error,
    );
    if (!(refusal instanceof ForeignBucketError))
      wrong.push(`the sweep of the restored copy did not refuse: ${refusal}`);
    await runCommands('claim', { ...site.env, ...env });
    await site.addInstance();
    const again = await load('again');
    await sleep(2_000);
    await again.end();
    const failed = again.exchanges.all.filter(({ status }) => status >= 500);
    for (const { operation, status } of failed) wrong.push(`after the restore: ${operation} ${status}`);
    wrong.push(...(await again.differences(site.database(), storage)));
    const figures =
      `${before.acknowledged} acknowledged writes before the moment, all restored in ${restoredSeconds} s; ` +
      `${after.acknowledged} after it, none present; sweep refused until the store was claimed; ${again.acknowledged} writes since`;
    return { wrong, figures };
  } finally {
    await site.close(say);
  }
}

async function rowsOf(site: ProofSite, name: string): Promise<number> {
  const sql = `select count(*)::int as count from sign_on_event where source_event_id like '%-${name}-%'`;
  const [row] = await site.database().fork().execute<{ count: number }[]>(sql);
  return row!.count;
}
