import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Folder } from '../../src/shared/folder.ts';

let root: string;
const roots: string[] = [];

/** `secret/key` is outside of `root/folder`. */
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'builder-api-folder-')));
  roots.push(root);
  for (const folder of ['secret', 'folder', 'folder/sub']) await mkdir(join(root, folder), { mode: 0o755 });
  await writeFile(join(root, 'secret/key'), 'SECRET');
  await writeFile(join(root, 'folder/sub/file'), 'text');
});
afterAll(async () => {
  for (const each of roots) await rm(each, { recursive: true, force: true });
});

const bytes = () => Readable.from([Buffer.from('new')]);

describe('opening a file of a folder', () => {
  const read = async (name: string) => {
    const folder = await Folder.open(join(root, 'folder'));
    const file = await folder.openFile(name);
    return file && (await file.readFile('utf8').finally(() => file.close()));
  };

  it('reads files and those of its folders, and returns null for one that is missing', async () => {
    expect(await read('sub/file')).toBe('text');
    expect([await read('none'), await read('none/file')]).toEqual([null, null]);
  });

  it.each([
    ['a linked file', (folder: string) => symlink('../secret/key', join(folder, 'name'))],
    ['a file in a linked folder', (folder: string) => symlink('../secret', join(folder, 'linked')), 'linked/key'],
    ['a file in a folder of a linked folder', (folder: string) => symlink('..', join(folder, 'up')), 'up/secret/key'],
    ['a link within the folder', (folder: string) => symlink('sub/file', join(folder, 'name'))],
    ['a link without a target', (folder: string) => symlink('nowhere', join(folder, 'name'))],
    ['a path that leaves the folder', async () => undefined, '../secret/key'],
    ['a folder', (folder: string) => mkdir(join(folder, 'name'))],
    ['a named pipe', async (folder: string) => void execFileSync('mkfifo', [join(folder, 'name')])],
  ])('rejects %s', async (_what, arrange, name = 'name') => {
    await arrange(join(root, 'folder'));
    await expect(read(name)).rejects.toThrow(/link|not in the folder|not a file|cannot be read/);
  });

  it('follows links to the folder itself, which the operator names', async () => {
    await symlink('folder', join(root, 'named'));
    const file = await (await Folder.open(join(root, 'named'))).openFile('sub/file');
    expect(await file!.readFile('utf8')).toBe('text');
    await file!.close();
  });
});

describe('a folder that another process replaces by a link and back', () => {
  const SWAP = `const fs = require('node:fs');
    process.chdir(process.argv[1]);
    for (;;) {
      fs.renameSync('sub', 'real'); fs.symlinkSync('../secret', 'sub');
      fs.unlinkSync('sub'); fs.renameSync('real', 'sub');
    }`;
  let swapping: ChildProcess;
  beforeEach(() => {
    swapping = spawn(process.execPath, ['-e', SWAP, join(root, 'folder')], { stdio: 'ignore' });
  });
  afterEach(() => swapping.kill('SIGKILL'));

  it.skipIf(process.platform !== 'linux')('is read only inside of the folder', async () => {
    await writeFile(join(root, 'folder/sub/key'), 'text').catch(() => undefined);
    const folder = await Folder.open(join(root, 'folder'));
    const found = new Set<string>();
    for (let count = 0; count < 5_000; count++) {
      const file = await folder.openFile('sub/key').catch(() => null);
      if (file) found.add(await file.readFile('utf8').finally(() => file.close()));
    }
    expect([...found]).toEqual(['text']);
  });
});

describe('writing a file of a folder', () => {
  const write = async (name: string) => (await Folder.open(join(root, 'folder'))).writeFile(name, bytes());

  it('makes files of mode 0600 in folders of mode 0700', async () => {
    await (await Folder.create(join(root, 'made/here'))).writeFile('a/b/file', bytes());
    for (const path of ['made', 'made/here', 'made/here/a', 'made/here/a/b'])
      expect((await stat(join(root, path))).mode & 0o777, path).toBe(0o700);
    expect((await stat(join(root, 'made/here/a/b/file'))).mode & 0o777).toBe(0o600);
  });

  it('leaves a file, a link and its target that are there', async () => {
    await writeFile(join(root, 'folder/name'), 'old', { mode: 0o666 });
    await symlink('../secret/key', join(root, 'folder/link'));
    await symlink('../secret/new', join(root, 'folder/dangling'));
    for (const name of ['name', 'link', 'dangling']) await expect(write(name), name).rejects.toThrow(/EEXIST/);
    expect(await readFile(join(root, 'folder/name'), 'utf8')).toBe('old');
    expect(await readFile(join(root, 'secret/key'), 'utf8')).toBe('SECRET');
    expect([await readdir(join(root, 'secret')), (await readdir(join(root, 'folder'))).toSorted()]).toEqual([
      ['key'],
      ['dangling', 'link', 'name', 'sub'],
    ]);
  });

  it('begins in an empty folder, which becomes accessible to its owner only', async () => {
    await expect(Folder.create(join(root, 'folder'))).rejects.toThrow(/folder is not empty: name another one\.$/);
    expect((await stat(join(root, 'folder'))).mode & 0o777).toBe(0o755);
    await mkdir(join(root, 'empty'), { mode: 0o777 });
    await Folder.create(join(root, 'empty'));
    expect((await stat(join(root, 'empty'))).mode & 0o777).toBe(0o700);
  });

  it.each(['linked/key', 'linked/new/key', '../secret/key'])('rejects %s', async (name) => {
    await symlink('../secret', join(root, 'folder/linked'));
    await expect(write(name)).rejects.toThrow(/link, which is not followed|is not in the folder/);
    expect(await readdir(join(root, 'secret'))).toEqual(['key']);
    expect(await readFile(join(root, 'secret/key'), 'utf8')).toBe('SECRET');
  });

  it('is refused while another process writes the file, so that two exports into one folder are not mixed', async () => {
    const [one, other] = await Promise.all([1, 2].map(() => Folder.create(join(root, 'made'))));
    const draft = await one!.createDraft('name');
    await expect(other!.createDraft('name')).rejects.toThrow(/^The folder .* cannot be written: EEXIST/);
    await draft.discard();
    expect(await readdir(join(root, 'made'))).toEqual([]);
  });

  it('leaves nothing of a file whose source fails', async () => {
    const failing = Readable.from(
      (async function* () {
        yield Buffer.from('half');
        throw new Error('The source failed.');
      })(),
    );
    const folder = await Folder.open(join(root, 'folder'));
    await expect(folder.writeFile('name', failing)).rejects.toThrow('The source failed.');
    expect(await readdir(join(root, 'folder'))).toEqual(['sub']);
  });
});
