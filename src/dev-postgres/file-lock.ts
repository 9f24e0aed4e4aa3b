import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { getErrorCode } from '../database/errors.ts';
import { processStart } from '../shared/process-identity.ts';

/** Kind of the process that holds a lock: a service runs until it is stopped, an operator command ends by itself. */
export type LockRole = 'service' | 'command';

/** The process that holds a lock; content of the lock file. */
interface LockHolder {
  pid: number;
  /** Start time of the process in clock ticks since boot; '' where the system does not report it. */
  started: string;
  role: LockRole;
  /** Unique per acquisition. */
  id: string;
}

export interface FileLock {
  release(): Promise<void>;
}

/** Acquires the lock file at `path`, or returns the live process that holds it. The lock of a dead process is taken over. */
export async function tryAcquireFileLock(
  path: string,
  role: LockRole,
): Promise<{ lock: FileLock } | { holder: LockHolder }> {
  const started = (await processStart(process.pid)) ?? '';
  const self: LockHolder = { pid: process.pid, started, role, id: randomUUID() };
  const holder = await acquire(path, self);
  if (holder) return { holder };
  await removeStaleFiles(path);
  const release = async () => {
    if ((await readHolder(path))?.id === self.id) await rm(path, { force: true });
  };
  return { lock: { release } };
}

/**
 * Acquires the lock, or returns its live holder. `link` creates the file atomically with its content. Replacing the file of a dead
 * holder requires a second lock, named after that holder: without it, of two processes that saw the same dead holder, the slower one
 * could remove the file of the faster one.
 */
async function acquire(path: string, self: LockHolder): Promise<LockHolder | undefined> {
  const draft = `${path}.${self.id}.tmp`;
  try {
    for (;;) {
      await writeFile(draft, `${JSON.stringify(self)}\n`, { mode: 0o600 });
      try {
        await link(draft, path);
        return undefined;
      } catch (error) {
        // ENOENT: another process removed the draft as stale.
        if (getErrorCode(error) === 'ENOENT') continue;
        if (getErrorCode(error) !== 'EEXIST') throw error;
      }
      const holder = await readHolder(path);
      if (!holder) continue;
      if (await isAlive(holder)) return holder;
      const takeoverPath = `${path}.${holder.id}`;
      if (await acquire(takeoverPath, self)) {
        await sleep(10);
        continue;
      }
      try {
        if ((await readHolder(path))?.id === holder.id) {
          await rename(draft, path);
          return undefined;
        }
      } finally {
        await rm(takeoverPath, { force: true });
      }
    }
  } finally {
    await rm(draft, { force: true });
  }
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8'));
    if (typeof holder.pid === 'number' && typeof holder.id === 'string') return holder;
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  // A power failure can leave an empty file, whose writer has ended.
  return { pid: 0, started: '', role: 'service', id: 'unreadable' };
}

async function isAlive(holder: LockHolder): Promise<boolean> {
  const started = await processStart(holder.pid);
  if (started === undefined) return false;
  return started === '' || holder.started === '' || started === holder.started;
}

/** Removes drafts and takeover locks of killed processes beside a lock that this process holds. */
async function removeStaleFiles(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const stale = join(dirname(path), name);
    const holder = await readHolder(stale);
    if (holder && !(await isAlive(holder))) await rm(stale, { force: true });
  }
}
