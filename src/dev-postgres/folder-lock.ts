import { randomUUID } from 'node:crypto';
import { link, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { processStart } from '../shared/process-identity.ts';

export { processStart };

/** What the lock is held for: the service stays, an operator command ends by itself. */
export type LockRole = 'service' | 'command';

/** The process that holds a lock, as written in the lock file. */
export interface Holder {
  pid: number;
  /** Start time of the process in clock ticks since boot, '' where the system does not tell. */
  started: string;
  role: LockRole;
  /** Unique for each time that a lock is taken. */
  id: string;
}

export interface Lock {
  release(): Promise<void>;
}

/** Takes the lock file at `path`, or tells which live process holds it. A dead holder's lock is taken over. */
export async function tryLock(path: string, role: LockRole): Promise<{ lock: Lock } | { holder: Holder }> {
  const started = (await processStart(process.pid)) ?? '';
  const me: Holder = { pid: process.pid, started, role, id: randomUUID() };
  const holder = await claim(path, me);
  if (holder) return { holder };
  await sweep(path);
  const release = async () => {
    if ((await read(path))?.id === me.id) await rm(path, { force: true });
  };
  return { lock: { release } };
}

/**
 * The file appears with its content in one step (link), so nobody reads half of it. The right to replace a dead
 * holder's file is a lock of its own, named after that holder: without it, two starters that saw the same dead holder
 * could each remove the file, the slower one removing the faster one's.
 */
async function claim(path: string, me: Holder): Promise<Holder | undefined> {
  const draft = `${path}.${me.id}.tmp`;
  try {
    for (;;) {
      await writeFile(draft, `${JSON.stringify(me)}\n`, { mode: 0o600 });
      try {
        await link(draft, path);
        return undefined;
      } catch (error) {
        // ENOENT: the sweep of another process took the draft for a leftover.
        if (codeOf(error) === 'ENOENT') continue;
        if (codeOf(error) !== 'EEXIST') throw error;
      }
      const holder = await read(path);
      if (!holder) continue;
      if (await isAlive(holder)) return holder;
      const succession = `${path}.${holder.id}`;
      if (await claim(succession, me)) {
        await sleep(10);
        continue;
      }
      try {
        if ((await read(path))?.id === holder.id) {
          await rename(draft, path);
          return undefined;
        }
      } finally {
        await rm(succession, { force: true });
      }
    }
  } finally {
    await rm(draft, { force: true });
  }
}

async function read(path: string): Promise<Holder | undefined> {
  try {
    const holder = JSON.parse(await readFile(path, 'utf8'));
    if (typeof holder.pid === 'number' && typeof holder.id === 'string') return holder;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    if (!(error instanceof SyntaxError)) throw error;
  }
  // A power cut can leave an empty file; its writer did not survive it.
  return { pid: 0, started: '', role: 'service', id: 'unreadable' };
}

async function isAlive(holder: Holder): Promise<boolean> {
  const started = await processStart(holder.pid);
  if (started === undefined) return false;
  return started === '' || holder.started === '' || started === holder.started;
}

/** Removes what killed starters left beside a lock that this process holds. */
async function sweep(path: string): Promise<void> {
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(dirname(path))) {
    if (!name.startsWith(prefix)) continue;
    const leftover = join(dirname(path), name);
    const holder = await read(leftover);
    if (holder && !(await isAlive(holder))) await rm(leftover, { force: true });
  }
}

function codeOf(error: unknown): unknown {
  return (error as NodeJS.ErrnoException).code;
}
