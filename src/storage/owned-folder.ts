import { lchown, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/*
 * Commands that root runs store files for the service, which runs as another user and reads its own files only. What they make belongs to the
 * owner of the folder around it.
 */

/** Gives the path to the owner of the folder around it. */
export async function giveToOwner(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(dirname(path));
  // The owner may have replaced the path by a link.
  if (uid !== 0) await lchown(path, uid, gid);
}

/** Gives the folder, and those around it, to the owner of that around the first one which `mkdir` has created for it. */
export async function giveFolderToOwner(folder: string, first: string | undefined): Promise<void> {
  if (first === undefined) return;
  if (folder !== first) await giveFolderToOwner(dirname(folder), first);
  await giveToOwner(folder);
}
