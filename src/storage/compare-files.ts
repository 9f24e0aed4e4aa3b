import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';

/** Whether both files have the same bytes, by their SHA-256. */
export async function hasSameBytes(one: string, other: string): Promise<boolean> {
  const [left, right] = await Promise.all([one, other].map(hashFile));
  return left === right;
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
