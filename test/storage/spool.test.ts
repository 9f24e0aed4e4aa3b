import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough, type Transform } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { paceChunk } from '../../src/limits/paced-chunks.ts';
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
  it('takes the chunks of a file in turn with those of other shares, however many they have (LIM-29)', async () => {
    // Fifty transfers without a share that always have a chunk.
    let passed = 0;
    let isOver = false;
    const send = (stream: Transform) =>
      paceChunk(stream, '', () => {
        passed++;
        if (!isOver) queueMicrotask(() => send(stream));
      });
    for (let count = 0; count < 50; count++) send(new PassThrough());
    const counts: number[] = [];
    async function* chunks(): AsyncGenerator<Buffer> {
      for (let chunk = 0; chunk < 2; chunk++) {
        counts.push(passed);
        yield Buffer.alloc(65_536);
      }
      counts.push(passed);
      isOver = true;
    }
    const received = await new Spool(folder).receive(chunks(), 3_000_000, { shareKey: 'intg_b' });
    expect(received).toMatchObject({ size: 2 * 65_536 });
    // Without turns by share the second chunk would be asked for after all fifty.
    expect(counts[1]! - counts[0]!).toBeLessThan(25);
  });
});
