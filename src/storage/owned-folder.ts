import { lchown, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/*
 * Commands that root runs store files for the service, which runs as another user and reads its own files only. What they make belongs to the
 * owner of the folder around it.
 */

/** Gives the paths to the owner of the folder. */
export async function giveToOwner(folder: string, paths: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  // The owner may have replaced a path by a link.
  if (uid !== 0) for (const path of paths) await lchown(path, uid, gid);
}

/** Gives the folder to the owner of that around the first one which `mkdir` has created for it. */
export async function giveFolderToOwner(folder: string, first: string | undefined): Promise<void> {
  if (first === undefined) return;
  const created = [folder];
  while (created[0] !== first) created.unshift(dirname(created[0]!));
  await giveToOwner(dirname(first), created);
}
