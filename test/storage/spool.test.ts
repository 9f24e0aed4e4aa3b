import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Spool } from '../../src/storage/spool.ts';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from '../support/exit-with-parent.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-spool-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Starts another process that writes a file, and returns the file's name. */
async function spawnWriter(): Promise<{ process: ChildProcess; name: string }> {
  const script = `
    import { writeFile } from 'node:fs/promises';
    import { Spool } from ${JSON.stringify(new URL('../../src/storage/spool.ts', import.meta.url).href)};
    const path = await new Spool(${JSON.stringify(folder)}).createPath();
    await writeFile(path, 'half of an upload');
    console.log(path);
    setInterval(() => {}, 1000);`;
  const args = [...EXIT_WITH_PARENT, '--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: STDIO_WITH_PARENT });
  for await (const line of createInterface(child.stdout!)) return { process: child, name: basename(line) };
  throw new Error('The writer ended without output.');
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('Spool.removeOrphans', () => {
  it('removes the files of killed processes, and no files of live ones', async () => {
    const [killed, living] = await Promise.all([spawnWriter(), spawnWriter()]);
    const spool = new Spool(folder);
    const own = await spool.createPath();
    await writeFile(own, 'half of an upload');
    expect(await spool.removeOrphans()).toBe(0);
    await kill(killed.process);
    expect(await spool.removeOrphans()).toBe(1);
    expect((await readdir(folder)).sort()).toEqual([living.name, basename(own)].sort());
    await kill(living.process);
  });

  it('keeps the files of other machines and of unknown writers', async () => {
    const { process: writer, name } = await spawnWriter();
    await kill(writer);
    const elsewhere = name.replace(/^\w+/, 'f'.repeat(16));
    for (const other of [elsewhere, 'c0ffee']) await writeFile(join(folder, other), 'x');
    expect(await new Spool(folder).removeOrphans()).toBe(1);
    expect((await readdir(folder)).sort()).toEqual([elsewhere, 'c0ffee'].sort());
  });

  it('removes the files of a process whose id was reused', async () => {
    const spool = new Spool(folder);
    const own = basename(await spool.createPath());
    await writeFile(join(folder, own.replace(/\.\d+\.(\w+)$/, '.1.$1')), 'x');
    expect(await spool.removeOrphans()).toBe(process.platform === 'linux' ? 1 : 0);
  });
});

describe('Spool.receive', () => {
  it('takes the chunks of uploads in turn by share, so that many of one do not delay another (LIM-29)', async () => {
    const spool = new Spool(folder);
    let taken = 0;
    async function* ofA(): AsyncGenerator<Buffer> {
      for (let chunk = 0; chunk < 32; chunk++) {
        taken++;
        yield Buffer.alloc(65_536);
      }
    }
    async function* ofB(): AsyncGenerator<Buffer> {
      // The file is open after the first chunks.
      for (let chunk = 0; chunk < 4; chunk++) yield Buffer.alloc(65_536);
      const before = taken;
      for (let chunk = 0; chunk < 8; chunk++) yield Buffer.alloc(65_536);
      // One chunk of A per chunk of B; fairness by upload instead of by share would be twenty.
      expect(taken - before).toBeLessThan(80);
    }
    const files = Array.from({ length: 20 }, () => spool.receive(ofA(), 3_000_000, { shareKey: 'intg_a' }));
    expect(await spool.receive(ofB(), 3_000_000, { shareKey: 'intg_b' })).toMatchObject({ size: 12 * 65_536 });
    for (const { size } of await Promise.all(files)) expect(size).toBe(32 * 65_536);
  });
});
