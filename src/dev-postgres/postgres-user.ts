import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { ClusterError, type PostgresUser, type Programs, toDataPath } from './postmaster.ts';

type UserIds = Required<Pick<PostgresUser, 'uid' | 'gid'>>;

export const isRoot = () => process.getuid?.() === 0;

/** Returns the user under which PostgreSQL's programs run on the folder: that of this process, unless it is root. */
export async function resolvePostgresUser(folder: string, programs: Programs): Promise<PostgresUser> {
  if (!isRoot()) return {};
  // The owner of existing data keeps it: the id of the user `postgres` differs between container images.
  const owner = await stat(toDataPath(folder)).catch(() => undefined);
  const user = owner?.uid ? { uid: owner.uid, gid: owner.gid } : await ensurePostgresUser();
  const inaccessible = await findInaccessibleFolder(user, [folder, dirname(await realpath(programs.postgres))]);
  if (inaccessible === null) return user;
  if (await hasSetpriv()) return { ...user, needsSearchCapability: true };
  const who = `PostgreSQL runs as the user with id ${user.uid}, who cannot enter ${inaccessible}`;
  throw new ClusterError(`${who}: allow it (chmod o+x), use another folder, or install setpriv (util-linux).`);
}

/** Returns a folder above one of the paths that the user cannot enter; null when there is none. */
async function findInaccessibleFolder(user: UserIds, paths: string[]): Promise<string | null> {
  for (const path of paths) {
    for (let part = path; ; part = dirname(part)) {
      const { mode, uid, gid } = await stat(part);
      const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
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

async function ensurePostgresUser(): Promise<UserIds> {
  const exec = promisify(execFile);
  const id = async (flag: string) => Number((await exec('id', [flag, 'postgres'])).stdout);
  const find = async () => ({ uid: await id('-u'), gid: await id('-g') });
  try {
    return await find();
  } catch {
    // Errors are ignored, because another process may create them at the same time.
    await exec('groupadd', ['--system', 'postgres']).catch(() => {});
    await exec('useradd', ['--system', '--no-create-home', '--gid', 'postgres', 'postgres']).catch(() => {});
    return find().catch(() => {
      throw new ClusterError(
        'PostgreSQL does not run as root, and no user named postgres can be made: run as another user.',
      );
    });
  }
}
