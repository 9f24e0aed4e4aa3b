import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

/**
 * Returns the start time of a live process, '' where the system does not provide it, undefined when there is no such process. A zombie
 * counts as dead: it remains in containers whose init process does not reap children.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  if (process.platform !== 'linux') return '';
  // The command name is in parentheses and may contain spaces and parentheses: fields are counted from the last one.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : (fields[19] ?? '');
}

let machine: Promise<string> | undefined;

/**
 * Returns an identifier that all processes share whose process ids are comparable: those of one boot of a host and one container.
 */
export function readMachineId(): Promise<string> {
  machine ??= (async () => {
    const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
    return createHash('sha256').update(`${hostname()} ${bootId} ${namespace}`).digest('hex').slice(0, 16);
  })();
  return machine;
}
