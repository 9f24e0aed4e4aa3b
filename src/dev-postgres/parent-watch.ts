import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from './folder-lock.ts';
import { commandOf, dataOf, type Site } from './postmaster.ts';

const fileOf = (folder: string) => join(folder, 'postgres.watcher');

/** Milliseconds that a start waits for the watcher of a process that is gone: as long as pg_ctl lets PostgreSQL stop. */
const LIMIT_MS = 60_000;

/**
 * Its input is a pipe that nothing is written to and that ends with the process at the other end, even after SIGKILL. `$0` is
 * pg_ctl, `$1` the cluster's folder.
 */
const SCRIPT = 'read -r _; exec "$0" stop -w -t 60 -m fast -D "$1"';

/**
 * Starts a small process that stops the folder's server when this process ends without having stopped it. Returns what ends the
 * watch. Windows has no such shell: there the next start adopts or stops what was left running.
 */
export async function stopServerWithThisProcess(site: Site): Promise<() => Promise<void>> {
  if (process.platform === 'win32') return async () => {};
  const { command, args, options } = commandOf('sh', ['-c', SCRIPT, site.programs.pg_ctl, dataOf(site.folder)], site);
  const watcher = spawn(command, args, { ...options, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a shell the server is left running when this process is killed, and found by the next start.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  (watcher.stdin as Socket).unref();
  const { pid } = watcher;
  if (pid === undefined) return async () => {};
  await writeFile(fileOf(site.folder), `${pid} ${(await processStart(pid)) ?? ''}\n`, { mode: 0o600 });
  return async () => {
    watcher.kill('SIGKILL');
    await rm(fileOf(site.folder), { force: true });
  };
}

/**
 * Waits until the watcher of a process that is gone has stopped the server, which must not be adopted meanwhile. To be called by
 * the holder of the folder's lock.
 */
export async function waitForFormerWatcher(folder: string): Promise<void> {
  const [pid, started] = (await readFile(fileOf(folder), 'utf8').catch(() => '')).trim().split(' ');
  const begun = performance.now();
  while (pid && performance.now() - begun < LIMIT_MS) {
    const start = await processStart(Number(pid));
    if (start === undefined || start !== (started ?? '')) break;
    await sleep(20);
  }
  await rm(fileOf(folder), { force: true });
}
