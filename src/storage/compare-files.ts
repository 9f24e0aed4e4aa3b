import { type FileHandle, open } from 'node:fs/promises';

const CHUNK_BYTES = 256 * 1024;

/** Whether both files have the same bytes. Reads them in chunks. */
export async function hasSameBytes(onePath: string, otherPath: string): Promise<boolean> {
  const one = await open(onePath, 'r');
  try {
    const other = await open(otherPath, 'r');
    try {
      return await hasEqualContent(one, other);
    } finally {
      await other.close();
    }
  } finally {
    await one.close();
  }
}

async function hasEqualContent(one: FileHandle, other: FileHandle): Promise<boolean> {
  const { size } = await one.stat();
  if ((await other.stat()).size !== size) return false;
  const [left, right] = [Buffer.allocUnsafe(CHUNK_BYTES), Buffer.allocUnsafe(CHUNK_BYTES)];
  for (let offset = 0; offset < size; offset += CHUNK_BYTES) {
    const length = Math.min(CHUNK_BYTES, size - offset);
    await Promise.all([one.read(left, 0, length, offset), other.read(right, 0, length, offset)]);
    if (!left.subarray(0, length).equals(right.subarray(0, length))) return false;
  }
  return true;
}
