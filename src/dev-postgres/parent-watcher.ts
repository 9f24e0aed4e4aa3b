import { spawn } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from '../shared/process-identity.ts';
import { type ClusterContext, toCommand, toDataPath } from './postmaster.ts';

const toWatcherPath = (folder: string) => join(folder, 'postgres.watcher');

/** Milliseconds that a start waits for the watcher of an ended process: pg_ctl's time limit for stopping PostgreSQL. */
const STOP_TIMEOUT_MS = 60_000;

/**
 * Shell script that stops the server at the end of its standard input, a pipe that closes when the service ends, even by SIGKILL.
 * `$0` is pg_ctl, `$1` the cluster's folder.
 */
const WATCHER_SCRIPT = 'read -r _; exec "$0" stop -w -t 60 -m fast -D "$1"';

/**
 * Starts a shell process that stops the folder's server when this process ends without having stopped it. Returns a function that
 * ends the watcher. Windows has no such shell: there the next start adopts or stops a server that was left running.
 */
export async function startParentWatcher(context: ClusterContext): Promise<() => Promise<void>> {
  if (process.platform === 'win32') return async () => {};
  const { command, args, options } = toCommand(
    'sh',
    ['-c', WATCHER_SCRIPT, context.programs.pg_ctl, toDataPath(context.folder)],
    context,
  );
  const watcher = spawn(command, args, { ...options, stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a shell, the next start finds the server that a killed process left running.
  watcher.on('error', () => undefined);
  watcher.stdin.on('error', () => undefined);
  watcher.unref();
  (watcher.stdin as Socket).unref();
  const { pid } = watcher;
  if (pid === undefined) return async () => {};
  await writeFile(toWatcherPath(context.folder), `${pid} ${(await processStart(pid)) ?? ''}\n`, { mode: 0o600 });
  return async () => {
    watcher.kill('SIGKILL');
    await rm(toWatcherPath(context.folder), { force: true });
  };
}

/**
 * Waits until the watcher of an ended process has stopped the server, which must not be adopted meanwhile. The caller holds the folder's
 * lock.
 */
export async function waitForPreviousWatcher(folder: string): Promise<void> {
  const [pid, started] = (await readFile(toWatcherPath(folder), 'utf8').catch(() => '')).trim().split(' ');
  const startedAt = performance.now();
  while (pid && performance.now() - startedAt < STOP_TIMEOUT_MS) {
    const start = await processStart(Number(pid));
    if (start === undefined || start !== (started ?? '')) break;
    await sleep(20);
  }
  await rm(toWatcherPath(folder), { force: true });
}
