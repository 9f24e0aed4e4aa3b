import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Builder } from '../../entities/builder.entity.ts';
import { createProgressReporter } from '../../src/cli/io/progress.ts';
import { runCli } from '../../src/cli/run.ts';
import { type CliHarness, seedBuilders, startCli, TextCollector } from './cli-harness.ts';

let cli: CliHarness;
let folder: string;

beforeAll(async () => {
  cli = await startCli();
  await seedBuilders(cli);
  folder = await mkdtemp(join(tmpdir(), 'exchange-'));
});
afterAll(async () => {
  await cli.close();
  await rm(folder, { recursive: true });
});

const countBuilders = () => cli.databases.us1.fork().count(Builder);

/** Reads the files of a folder, by name. */
async function textsOf(path: string): Promise<Record<string, string>> {
  const names = (await readdir(path)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(path, name), 'utf8')])),
  );
}

describe('export and import', () => {
  it('copy the data of a region to another, byte for byte', async () => {
    const [first, second] = [join(folder, 'first'), join(folder, 'second')];
    const exported = await cli.json(['export', first]);
    expect(exported).toMatchObject({ regionId: 'au1', folder: first });
    const { bytes } = exported.files.find(({ file }: { file: string }) => file === 'builders.ndjson');
    expect(exported.files).toContainEqual({ file: 'builders.ndjson', rows: 2, bytes });
    const imported = await cli.json(['import', first, '--region', 'us1']);
    const counts = { rows: 2, inserted: 2, updated: 0, unchanged: 0, bad: 0 };
    expect(imported.files).toContainEqual({ file: 'builders.ndjson', ...counts });
    expect(imported).toMatchObject({ regionId: 'us1', problems: [], problemsLeftOut: 0 });
    const { out } = await cli.run(['export', second, '--region', 'us1']);
    expect(out).toMatch(/^Exported to .*second\.\n/);
    expect(await textsOf(second)).toEqual(await textsOf(first));
    const again = await cli.run(['import', first, '--region', 'us1']);
    expect(again.out).toMatch(/^Imported .*\n[\s\S]* {2}builders\.ndjson +0 inserted, 0 updated, 2 unchanged\n/);
  });
});

describe('an import that is interrupted while it reads', () => {
  it('changes nothing, although it has a connection of its own', async () => {
    const stopped = join(folder, 'stopped');
    await mkdir(stopped);
    const stamps = { createdAt: '2026-03-02T07:30:00.000Z', updatedAt: '2026-03-02T07:30:00.000Z' };
    await writeFile(join(stopped, 'builders.ndjson'), JSON.stringify({ id: 'buil_i', name: 'Builder I', ...stamps }));
    const stderr = Object.assign(new TextCollector(), { isTTY: true });
    const onInterrupt = (work: () => Promise<void>) => {
      const write = stderr.write.bind(stderr);
      // The progress of the file.
      stderr.write = ((text: string) => {
        if (text.includes('reading')) void work();
        return write(text);
      }) as typeof stderr.write;
      return () => undefined;
    };
    const io = { env: cli.env, clock: cli.clock, stdin: new PassThrough(), stdout: new TextCollector(), stderr };
    const code = await runCli(['import', stopped], { ...io, onInterrupt });
    expect({ code, out: io.stdout.text }).toEqual({ code: 1, out: '' });
    expect(stderr.text).toMatch(/\nInterrupted\.\n$/);
    expect(await cli.databases.au1.fork().count(Builder, { id: 'buil_i' })).toBe(0);
  });
});

describe('import of an invalid row', () => {
  let bad: string;
  const problem = { file: 'builders.ndjson', line: 2, field: 'name' };

  beforeAll(async () => {
    bad = join(folder, 'bad');
    await mkdir(bad);
    const stamps = { createdAt: '2026-03-02T07:30:00.000Z', updatedAt: '2026-03-02T07:30:00.000Z' };
    const rows = [
      { id: 'buil_c', name: 'Builder C', ...stamps },
      { id: 'buil_d', name: 7, ...stamps },
    ];
    await writeFile(join(bad, 'builders.ndjson'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  });

  it('imports nothing and reports file, line and field', async () => {
    const before = await countBuilders();
    const { code, out, err } = await cli.run(['import', bad, '--region', 'us1']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^builders\.ndjson:2: name: .+\nNothing was imported: 1 bad row\.\n$/);
    expect(await countBuilders()).toBe(before);
    const asJson = await cli.run(['import', bad, '--region', 'us1', '--json']);
    expect({ code: asJson.code, out: asJson.out }).toEqual({ code: 1, out: '' });
    expect(JSON.parse(asJson.err)).toEqual({
      error: 'Nothing was imported: 1 bad row.',
      problems: [{ ...problem, message: expect.any(String) }],
      problemsLeftOut: 0,
    });
  });

  it('imports the valid rows with --keep-good and still reports the invalid one', async () => {
    const before = await countBuilders();
    const imported = await cli.json(['import', bad, '--keep-good', '--region', 'us1']);
    expect(imported.problems).toEqual([{ ...problem, message: expect.any(String) }]);
    expect(imported.files).toMatchObject([{ file: 'builders.ndjson', rows: 2, inserted: 1, bad: 1 }]);
    expect(await countBuilders()).toBe(before + 1);
    const { out, err } = await cli.run(['import', bad, '--keep-good', '--region', 'us1']);
    expect(out).toContain('0 inserted, 0 updated, 1 unchanged, 1 bad and left out\n');
    expect(err).toMatch(/^builders\.ndjson:2: name: /);
  });

  it('rejects a folder that is missing, empty or has unknown files', async () => {
    expect(await cli.errorOf(['import', join(folder, 'nowhere')])).toMatch(/nowhere cannot be read/);
    const empty = await mkdtemp(join(folder, 'empty-'));
    expect(await cli.errorOf(['import', empty])).toMatch(/has no file of the format/);
    await appendFile(join(empty, 'builder.ndjson'), '');
    expect(await cli.errorOf(['import', empty])).toMatch(/builder\.ndjson is not a file of the format/);
    await appendFile(join(folder, 'taken'), '');
    expect(await cli.errorOf(['export', join(folder, 'taken')])).toMatch(/taken cannot be written/);
    expect(await cli.errorOf(['import'])).toMatch(/'dir'/);
  });
});

describe('progress', () => {
  const showAll = (isTTY: boolean) => {
    const stderr = Object.assign(new TextCollector(), { isTTY });
    const progress = createProgressReporter({ stderr });
    progress.update('builders.ndjson', 0, 100, 'reading, 0 rows');
    progress.log('builders.ndjson:2: name: must be a string');
    progress.update('projects.ndjson', 50, 100, 'reading, 7 rows');
    progress.stop();
    return stderr.text;
  };

  it('is a line on a terminal, and only the logged lines otherwise', () => {
    const text = showAll(true);
    expect(text).toContain('builders.ndjson');
    expect(text).toMatch(/projects\.ndjson +50% +reading, 7 rows\n$/);
    expect(showAll(false)).toBe('builders.ndjson:2: name: must be a string\n');
  });
});
