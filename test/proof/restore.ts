import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ForeignBucketError } from '../../src/domain/uploads/bucket-owner.ts';
import { sweep } from '../../src/domain/uploads/sweep.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { runBackupCommands } from '../support/backup-commands.ts';
import { MixedLoad } from './mixed-load.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';

const DAY = 86_400_000;

/** The reason why the proof cannot run; null if it can. */
export const psqlUnavailableReason: string | null = (() => {
  try {
    execFileSync('psql', ['--version'], { stdio: 'ignore' });
    return null;
  } catch {
    return 'psql is not installed';
  }
})();

/**
 * Follows docs/backup.md: takes a base backup under load, archives the log and copies the store, then deletes both and restores them to a
 * moment between two periods of load.
 */
export async function restore({ seconds, log }: { seconds: number; log: Log }) {
  const environment = await ProofEnvironment.start({ LOG_LEVEL: 'warn' });
  const folder = await mkdtemp(join(tmpdir(), 'builder-api-restore-'));
  environment.onClose(() => rm(folder, { recursive: true, force: true }));
  const problems: string[] = [];
  try {
    await chmod(folder, 0o711);
    const env: Record<string, string> = {
      ...{ DATABASE: environment.postgres.url('postgres'), PGDATA: join(environment.postgres.dataDir, 'postgres') },
      ...{
        ARCHIVE: join(folder, 'archive'),
        BACKUP: join(folder, 'backup'),
        STORE: join(environment.dataDir, 'storage'),
      },
    };
    await mkdir(env.ARCHIVE!);
    await chmod(env.ARCHIVE!, 0o777);
    await mkdir(env.BACKUP!);
    await runBackupCommands('archive', env);
    await environment.postgres.restart();
    await environment.addInstance();
    const origins = () => environment.instances.map(({ origin }) => origin);
    const load = (name: string) =>
      MixedLoad.start(environment, { origins, run: name, concurrency: 1, pause: 200, readsPerSecond: 0 });

    const before = await load('before');
    await sleep((seconds * 1000) / 2);
    await runBackupCommands('base-backup', env);
    const { mode } = await stat(join(env.BACKUP!, 'base.tar'));
    if (mode & 0o077) throw new Error('Other users can read the base backup.');
    log('base backup taken under load');
    await sleep((seconds * 1000) / 2);
    await before.end();
    const execute = (sql: string) => environment.database().fork().execute<{ value: string }[]>(sql);
    const [target] = await execute(`select clock_timestamp()::text as value`);
    await sleep(1_000);
    // None of these writes may exist after the restore.
    const after = await load('after');
    await sleep(2_000);
    await after.end();
    const [last] = await execute(`select pg_walfile_name(pg_switch_wal()) as value`);
    while (!(await readdir(env.ARCHIVE!)).includes(last!.value)) await sleep(100);
    await runBackupCommands('store', env);
    log(`${before.acknowledged} writes before ${target!.value}, ${after.acknowledged} after it`);

    for (const instance of environment.instances.splice(0)) await instance.kill();
    await environment.postgres.stop();
    for (const name of await readdir(env.PGDATA!)) await rm(join(env.PGDATA!, name), { recursive: true });
    await rm(env.STORE!, { recursive: true });
    log('database and store deleted');

    const startedAt = performance.now();
    await runBackupCommands('restore', { ...env, TARGET: target!.value });
    await environment.postgres.restart();
    while ((await execute(`select pg_is_in_recovery()::text as value`))[0]!.value === 'true') await sleep(100);
    const restoredSeconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    const verified = await runBackupCommands('verify', { ...environment.settings, ...env });
    if (verified.match(/^Complete\.$/gm)?.length !== REGIONS.length) problems.push(`backup verify: ${verified}`);

    const storage = environment.openStorage();
    problems.push(...(await before.verifyWrites(environment.database(), storage)));
    const found = await countEvents(environment, 'after');
    if (found > 0) problems.push(`${found} events written after the moment are there`);
    if ((await countEvents(environment, 'before')) === 0) problems.push('no event written before the moment is there');
    const swept = sweep(environment.database(), storage, Date.now() + 2 * DAY);
    const sweepError = await swept.then(
      () => null,
      (error) => error,
    );
    if (!(sweepError instanceof ForeignBucketError))
      problems.push(`the sweep of the restored copy did not refuse: ${sweepError}`);
    await runBackupCommands('claim', { ...environment.settings, ...env });
    await environment.addInstance();
    const again = await load('again');
    await sleep(2_000);
    await again.end();
    const failed = again.recorder.requests.filter(({ status }) => status >= 500);
    for (const { operation, status } of failed) problems.push(`after the restore: ${operation} ${status}`);
    problems.push(...(await again.verifyWrites(environment.database(), storage)));
    const figures =
      `${before.acknowledged} acknowledged writes before the moment, all restored in ${restoredSeconds} s; ` +
      `${after.acknowledged} after it, none present; sweep refused until the store was claimed; ${again.acknowledged} writes since`;
    return { problems, figures };
  } finally {
    await environment.close(log);
  }
}

async function countEvents(environment: ProofEnvironment, name: string): Promise<number> {
  const sql = `select count(*)::int as count from sign_on_event where source_event_id like '%-${name}-%'`;
  const [row] = await environment.database().fork().execute<{ count: number }[]>(sql);
  return row!.count;
}
