import { createHash } from 'node:crypto';
import { readFile, readlink } from 'node:fs/promises';
import { hostname } from 'node:os';

/**
 * Start time of a live process, '' where the system does not tell, undefined when there is no such process. A zombie
 * counts as dead: it lingers in containers whose first process does not reap.
 */
export async function processStart(pid: number): Promise<string | undefined> {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return undefined;
  }
  if (process.platform !== 'linux') return '';
  // The command name stands in parentheses and may itself hold spaces and parentheses, so count from the last one.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields[0] === 'Z' || fields[0] === 'X' ? undefined : (fields[19] ?? '');
}

let machine: Promise<string> | undefined;

/**
 * Letters and digits that are the same for all processes whose ids this process can look up: of one host, since it booted, and of one
 * container.
 */
export function machineId(): Promise<string> {
  machine ??= (async () => {
    const bootId = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    const namespace = await readlink('/proc/self/ns/pid').catch(() => '');
    return createHash('sha256').update(`${hostname()} ${bootId} ${namespace}`).digest('hex').slice(0, 16);
  })();
  return machine;
}
