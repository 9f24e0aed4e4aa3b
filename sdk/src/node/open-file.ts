import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';

/** Returns a file of this computer. Its bytes are read when they are sent. */
export async function openFile(path: string): Promise<{ blob: Blob; fileName: string }> {
  return { blob: await openAsBlob(path), fileName: basename(path) };
}
