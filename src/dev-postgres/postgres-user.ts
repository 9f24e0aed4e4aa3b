import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { ClusterError, type PostgresUser, toDataPath, toSetprivOptions } from './postmaster.ts';

type UserIds = Required<Pick<PostgresUser, 'uid' | 'gid'>>;

const exec = promisify(execFile);

export const isRoot = () => process.getuid?.() === 0;

/**
 * Returns the user under which PostgreSQL's programs run on the folder: that of this process, unless it is root. By setpriv (util-linux), the user
 * may enter every folder, such as root's home.
 */
export async function resolvePostgresUser(folder: string): Promise<PostgresUser> {
  if (!isRoot()) return {};
  // The owner of existing data keeps it: the id of the user `postgres` differs between container images.
  const owner = await stat(toDataPath(folder)).catch(() => undefined);
  const user = owner?.uid ? { uid: owner.uid, gid: owner.gid } : await ensurePostgresUser();
  // Containers may lack the program or the capability.
  const hasSetpriv = await exec('setpriv', [...toSetprivOptions(user.uid, user.gid), 'true']).then(
    () => true,
    () => false,
  );
  return { ...user, hasSetpriv };
}

async function ensurePostgresUser(): Promise<UserIds> {
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
