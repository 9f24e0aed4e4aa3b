import { type FileHandle, open } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

/** Whether both files hold the same bytes. They are read in chunks. */
export async function hasSameBytes(onePath: string, otherPath: string): Promise<boolean> {
  const one = await open(onePath, 'r');
  try {
    const other = await open(otherPath, 'r');
    try {
      return await isEqual(one, other);
    } finally {
      await other.close();
    }
  } finally {
    await one.close();
  }
}

async function isEqual(one: FileHandle, other: FileHandle): Promise<boolean> {
  const { size } = await one.stat();
  if ((await other.stat()).size !== size) return false;
  const [left, right] = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
  for (let at = 0; at < size; at += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, size - at);
    await Promise.all([one.read(left, 0, length, at), other.read(right, 0, length, at)]);
    if (!left.subarray(0, length).equals(right.subarray(0, length))) return false;
  }
  return true;
}
