import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Spool } from '../src/storage/spool.ts';
import { EXIT_WITH_PARENT, STDIO_WITH_PARENT } from './support/exit-with-parent.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'builder-api-spool-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Another process that has begun to write a file, and its name. */
async function writerProcess(): Promise<{ process: ChildProcess; name: string }> {
  const script = `
    import { writeFile } from 'node:fs/promises';
    import { Spool } from ${JSON.stringify(new URL('../src/storage/spool.ts', import.meta.url).href)};
    const path = await new Spool(${JSON.stringify(folder)}).place();
    await writeFile(path, 'half of an upload');
    console.log(path);
    setInterval(() => {}, 1000);`;
  const args = [...EXIT_WITH_PARENT, '--input-type=module', '--eval', script];
  const child = spawn(process.execPath, args, { stdio: STDIO_WITH_PARENT });
  for await (const line of createInterface(child.stdout!)) return { process: child, name: basename(line) };
  throw new Error('The writer ended without a word.');
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill('SIGKILL');
  await once(child, 'exit');
}

describe('the files of a spool', () => {
  it('go with the next start when their process was killed, and stay while it lives', async () => {
    const [killed, living] = await Promise.all([writerProcess(), writerProcess()]);
    const spool = new Spool(folder);
    const own = await spool.place();
    await writeFile(own, 'on its way');
    expect(await spool.removeLeftovers()).toBe(0);
    await kill(killed.process);
    expect(await spool.removeLeftovers()).toBe(1);
    expect((await readdir(folder)).sort()).toEqual([living.name, basename(own)].sort());
    await kill(living.process);
  });

  it('stay when another machine that shares the folder wrote them, or nobody knows who', async () => {
    const { process: writer, name } = await writerProcess();
    await kill(writer);
    const elsewhere = name.replace(/^\w+/, 'f'.repeat(16));
    for (const other of [elsewhere, 'c0ffee']) await writeFile(join(folder, other), 'x');
    expect(await new Spool(folder).removeLeftovers()).toBe(1);
    expect((await readdir(folder)).sort()).toEqual([elsewhere, 'c0ffee'].sort());
  });

  it('go when the number of their process now belongs to another one', async () => {
    const spool = new Spool(folder);
    const own = basename(await spool.place());
    await writeFile(join(folder, own.replace(/\.\d+\.(\w+)$/, '.1.$1')), 'x');
    expect(await spool.removeLeftovers()).toBe(process.platform === 'linux' ? 1 : 0);
  });
});
