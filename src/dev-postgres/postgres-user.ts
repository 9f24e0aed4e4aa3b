import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { ClusterError, dataOf, type Identity, type Programs } from './postmaster.ts';

type User = Required<Pick<Identity, 'uid' | 'gid'>>;

export const isRoot = () => process.getuid?.() === 0;

/** As whom PostgreSQL's programs run on the folder: as this process does, unless that is root. */
export async function findIdentity(folder: string, programs: Programs): Promise<Identity> {
  if (!isRoot()) return {};
  // Whoever made the data keeps it: the user `postgres` has another number in another container image.
  const owner = await stat(dataOf(folder)).catch(() => undefined);
  const identity = owner?.uid ? { uid: owner.uid, gid: owner.gid } : await postgresUser();
  const closed = await closedTo(identity, [folder, dirname(await realpath(programs.postgres))]);
  if (closed === null) return identity;
  if (await hasSetpriv()) return { ...identity, closedPath: true };
  const who = `PostgreSQL runs as the user with id ${identity.uid}, who cannot enter ${closed}`;
  throw new ClusterError(`${who}: allow it (chmod o+x), use another folder, or install setpriv (util-linux).`);
}

/** The first folder on the way to the paths that the user cannot enter. */
async function closedTo(identity: User, paths: string[]): Promise<string | null> {
  for (const path of paths) {
    for (let part = path; ; part = dirname(part)) {
      const { mode, uid, gid } = await stat(part);
      const bit = uid === identity.uid ? 0o100 : gid === identity.gid ? 0o010 : 0o001;
      if (!(mode & bit)) return part;
      if (part === dirname(part)) break;
    }
  }
  return null;
}

const hasSetpriv = () =>
  promisify(execFile)('setpriv', ['--version']).then(
    () => true,
    () => false,
  );

async function postgresUser(): Promise<User> {
  const exec = promisify(execFile);
  const id = async (flag: string) => Number((await exec('id', [flag, 'postgres'])).stdout);
  const find = async () => ({ uid: await id('-u'), gid: await id('-g') });
  try {
    return await find();
  } catch {
    // Another starter may be doing the same: what counts is that the user is there in the end.
    await exec('groupadd', ['--system', 'postgres']).catch(() => {});
    await exec('useradd', ['--system', '--no-create-home', '--gid', 'postgres', 'postgres']).catch(() => {});
    return find().catch(() => {
      throw new ClusterError(
        'PostgreSQL does not run as root, and no user named postgres can be made: run as another user.',
      );
    });
  }
}
