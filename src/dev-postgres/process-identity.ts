import { readFile } from 'node:fs/promises';

/**
 * Returns the start time of a live process, '' where the system does not provide it, undefined when there is no such process. A zombie
 * counts as dead: it remains in containers whose init process does not reap children.
 */
export async function readStartTime(pid: number): Promise<string | undefined> {
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
