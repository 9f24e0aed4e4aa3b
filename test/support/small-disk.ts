import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Mounts a small file system on the folder, which is created if missing. Returns a function that unmounts it. */
export function mountSmallDisk(folder: string, bytes: number): () => void {
  mkdirSync(folder, { recursive: true });
  const options = `size=${bytes},mode=0711`;
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`No disk can be mounted on ${folder}: ${stderr}`);
  return () => {
    spawnSync('umount', ['--lazy', folder]);
  };
}

/** Why this user cannot mount a file system; null if it can. */
export const mountUnavailableReason: string | null = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'builder-api-disk-'));
  try {
    mountSmallDisk(folder, 65_536)();
    return null;
  } catch {
    return 'This user may not mount a small disk.';
  } finally {
    rmdirSync(folder);
  }
})();
