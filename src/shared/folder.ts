import { constants } from 'node:fs';
import { chmod, type FileHandle, link, mkdir, open, readdir, readlink, realpath, rm } from 'node:fs/promises';
import { dirname, join, sep } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { OperatorError } from './operator-error.ts';
import { toTerminalLine } from './terminal-text.ts';

/** A folder or file that cannot be used. The message is one line for the operator. */
export class FolderError extends OperatorError {
  override name = 'FolderError';

  constructor(message: string, options?: ErrorOptions) {
    super(toTerminalLine(message), options);
  }
}

/** A file that is written under a temporary name. */
export interface Draft {
  path: string;
  write(source: Readable | AsyncIterable<Buffer>): Promise<void>;
  /** Gives the file its name. Throws `FolderError` if something has it. */
  complete(): Promise<void>;
  discard(): Promise<void>;
}

/**
 * A folder that somebody else may have made, or may write to. Its files are read and written without following a link, neither of a file
 * nor of a folder in their path, so that nothing outside of the folder is reached.
 */
export class Folder {
  /** @param path real path, without links */
  private constructor(readonly path: string) {}

  /** Opens a folder for reading. */
  static async open(path: string): Promise<Folder> {
    try {
      return new Folder(await realpath(path));
    } catch (error) {
      throw new FolderError(`The folder ${path} cannot be read: ${(error as Error).message}`, { cause: error });
    }
  }

  /** Opens a folder for writing that is missing or empty, and makes it accessible to its owner only. */
  static async create(path: string): Promise<Folder> {
    try {
      await mkdir(path, { recursive: true, mode: 0o700 });
      const folder = new Folder(await realpath(path));
      if ((await folder.list()).length > 0) throw new FolderError(`The folder ${path} is not empty: name another one.`);
      await chmod(folder.path, 0o700);
      return folder;
    } catch (error) {
      throw error instanceof FolderError ? error : toWriteError(path, error);
    }
  }

  async list(): Promise<string[]> {
    return readdir(this.path).catch((error: Error) => {
      throw new FolderError(`The folder ${this.path} cannot be read: ${error.message}`, { cause: error });
    });
  }

  /** Opens a file for reading; null if there is none. Throws `FolderError` for a link and for what is no file. */
  async openFile(name: string): Promise<FileHandle | null> {
    const path = this.#locate(name);
    try {
      // Opening a named pipe would otherwise wait for its writer.
      const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      const isIn = (await locateOpened(file, path)) === path;
      if (isIn && (await file.stat()).isFile()) return file;
      await file.close();
      throw isIn ? new FolderError(`${path} is not a file.`) : toLinkError(path);
    } catch (error) {
      if (error instanceof FolderError) throw error;
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return null;
      throw code === 'ELOOP'
        ? toLinkError(path)
        : new FolderError(`${path} cannot be read: ${message}`, { cause: error });
    }
  }

  /** Creates a file under a temporary name that no other file has, readable by its owner only. Throws while another process writes it. */
  async createDraft(name: string): Promise<Draft> {
    const path = this.#locate(name);
    const draft = `${path}~.part`;
    try {
      await this.#createFolders(dirname(path));
      const file = await open(draft, 'wx', 0o600);
      const location = await locateOpened(file, draft);
      if (location !== draft) {
        await file.close();
        await rm(location, { force: true });
        throw toLinkError(path);
      }
      return {
        path: draft,
        write: (source) =>
          pipeline(source, file.createWriteStream({ flush: true })).catch((error: NodeJS.ErrnoException) => {
            throw error.syscall === 'write' ? toWriteError(this.path, error) : error;
          }),
        complete: async () => {
          await link(draft, path).catch((error) => {
            throw toWriteError(this.path, error);
          });
          await rm(draft);
        },
        discard: async () => {
          await file.close().catch(() => undefined);
          await rm(draft, { force: true });
        },
      };
    } catch (error) {
      throw error instanceof FolderError ? error : toWriteError(this.path, error);
    }
  }

  /** Writes a file that does not exist. It has its name only when it is complete, and after the work. */
  async writeFile(name: string, source: Readable, work?: () => Promise<void>): Promise<void> {
    const draft = await this.createDraft(name).catch((error) => {
      source.destroy();
      throw error;
    });
    try {
      await draft.write(source);
      await work?.();
      await draft.complete();
    } catch (error) {
      await draft.discard();
      throw error;
    }
  }

  #locate(name: string): string {
    const path = join(this.path, name);
    if (!path.startsWith(this.path.endsWith(sep) ? this.path : this.path + sep))
      throw new FolderError(`${name} is not in the folder ${this.path}.`);
    return path;
  }

  async #createFolders(path: string): Promise<void> {
    if (path === this.path) return;
    await this.#createFolders(dirname(path));
    await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if ((await realpath(path)) !== path) throw toLinkError(path);
  }
}

const toWriteError = (path: string, error: unknown) =>
  new FolderError(`The folder ${path} cannot be written: ${(error as Error).message}`, { cause: error });

const toLinkError = (path: string) => new FolderError(`${path} is or is below a link, which is not followed.`);

/**
 * Returns where an opened file is. Linux knows it of the file itself, so that a link that was put into the path meanwhile, and removed again,
 * is found. Other systems resolve the path.
 */
const locateOpened = (file: FileHandle, path: string): Promise<string> =>
  readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path));
