import { cp, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { CliError } from '../../src/cli/cli-error.ts';
import { loadConfig } from '../../src/config.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { Folder } from '../../src/shared/folder.ts';
import { LocalStore } from '../../src/storage/local-store.ts';
import { openStorages, type Storage } from '../../src/storage/storage.ts';
import { SAMPLES } from '../data-transfer/data-transfer-fixture.ts';
import {
  BUILDER,
  findTablesWith,
  namePriyaEverywhere,
  PICTURE,
  PRIYA,
  PRIYA_IDS,
  WORKER,
} from '../domain/privacy/privacy-fixture.ts';
import { noteChanges } from '../support/audit.ts';
import { type CliHarness, startCli } from './cli-harness.ts';

let cli: CliHarness;
let folder: string;
let storage: Storage;

beforeAll(async () => {
  cli = await startCli({ au1: inject('cluster').sample });
  folder = await mkdtemp(join(tmpdir(), 'builder-api-privacy-'));
  await cp(join(SAMPLES, 'files'), join(cli.env.DATA_DIR!, 'storage/objects/au1'), { recursive: true });
  storage = openStorages(loadConfig(cli.env), { secrets: [''], clock: systemClock }).au1;
  await namePriyaEverywhere(cli.databases.au1, storage);
});
afterAll(async () => {
  await cli.close();
  await rm(folder, { recursive: true, force: true });
});

const au1 = () => cli.databases.au1;

describe('person find', () => {
  it('finds the records of a person by name or e-mail address, in any case', async () => {
    const { people } = await cli.json(['person', 'find', 'priya NAIR']);
    expect(people.map(({ id }: { id: string }) => id).sort()).toEqual([...PRIYA_IDS].sort());
    expect(await cli.json(['person', 'find', PRIYA.email.toUpperCase()])).toMatchObject({
      people: [{ id: PRIYA.user }],
    });
    expect((await cli.run(['person', 'find', 'Nobody Here'])).out).toBe('Nobody was found.\n');
  });
});

describe('person export', () => {
  it('writes person.json and the files, readable by their owner only', async () => {
    const target = join(folder, 'priya');
    const result = await cli.json(['person', 'export', target, ...PRIYA_IDS]);
    expect(result).toMatchObject({ regionId: 'au1', rows: { User: 1, Profile: 1 }, files: 1, missingFiles: [] });
    const person = JSON.parse(await readFile(join(target, 'person.json'), 'utf8'));
    expect(person.records.User[0]).toMatchObject({ name: PRIYA.name, email: PRIYA.email });
    expect((await stat(join(target, 'files', PICTURE))).size).toBeGreaterThan(0);
    expect((await stat(join(target, 'person.json'))).mode & 0o077).toBe(0);
  });

  it('begins person.json first, so that one of another person into the same folder ends before it writes files', async () => {
    const writing = vi.spyOn(Folder.prototype, 'writeFile');
    await cli.json(['person', 'export', join(folder, 'order'), ...PRIYA_IDS]);
    expect(writing.mock.calls.map(([name]) => name)).toEqual(['person.json', `files/${PICTURE}`]);
    writing.mockRestore();
  });

  it('has no person.json where a file of the person cannot be read', async () => {
    const opening = vi.spyOn(LocalStore.prototype, 'open').mockRejectedValueOnce(new CliError('The store is down.'));
    const target = join(folder, 'no-store');
    expect(await cli.errorOf(['person', 'export', target, ...PRIYA_IDS])).toBe('The store is down.');
    opening.mockRestore();
    expect(await readdir(target)).toEqual([]);
  });

  it('is recorded before a file is written (PRV-7)', async () => {
    const target = join(folder, 'a-file');
    await writeFile(target, '');
    const count = async () =>
      (await cli.json(['audit', 'list', '--action', 'person.exported', '--object', PRIYA.user])).entries.length;
    const before = await count();
    expect((await cli.run(['person', 'export', target, PRIYA.user])).code).not.toBe(0);
    expect(await count()).toBe(before + 1);
  });

  it('names the ids that do not exist, and those of the other region', async () => {
    const error = 'IDS: there is no user, worker, profile or contact user_none.';
    expect(await cli.errorOf(['person', 'export', folder, PRIYA.user, 'user_none'])).toBe(error);
    expect(await cli.errorOf(['person', 'export', folder, PRIYA.user, '--region', 'us1'])).toContain(PRIYA.user);
  });
});

describe('person erase', () => {
  it('needs --yes without a terminal', async () => {
    expect(await cli.errorOf(['person', 'erase', PRIYA.user])).toBe('--yes: is required without a terminal.');
    expect(await findTablesWith(au1(), PRIYA.email)).not.toEqual([]);
  });

  it('erases the person, and prints the pseudonym and the counts', async () => {
    const { code, out } = await cli.run(['person', 'erase', ...PRIYA_IDS, '--yes', '--reason', 'request 17']);
    expect([code, out.split('\n')[0]]).toEqual([
      0,
      expect.stringMatching(/^The person is now Erased person [0-9a-f]{10}\.$/),
    ]);
    expect(await findTablesWith(au1(), PRIYA.email)).toEqual([]);
    expect(out).toMatch(
      /These texts name the person\.[\s\S]*\n {2}meeting\/meet_priya\/notes: Priya Nair opens\.\\u000a/,
    );
    const { entries } = await cli.json(['audit', 'list', '--action', 'person.erased']);
    expect(entries).toMatchObject([{ origin: { command: 'person erase' }, after: { reason: 'request 17' } }]);
  });

  it('is applied again after the import of an older export', async () => {
    await cli.json(['import', SAMPLES]);
    expect(await findTablesWith(au1(), PRIYA.email)).toEqual([]);
    expect(await findTablesWith(au1(), PRIYA.name)).toEqual(['meeting']);
    expect(await cli.json(['person', 'replay-erasures'])).toEqual({ regionId: 'au1', applied: 0, stored: 0 });
  });
});

describe('an import of some files of an older export', () => {
  const meeting = async (name: string, ...others: string[]) => {
    const target = join(folder, name);
    await cp(SAMPLES, target, {
      recursive: true,
      filter: (path) => !path.endsWith('.ndjson') || others.some((file) => path.endsWith(file)),
    });
    const [line] = (await readFile(join(SAMPLES, 'meetings.ndjson'), 'utf8')).split('\n');
    const row = { ...JSON.parse(line!), id: 'meet_partial', notes: `Seen by ${PRIYA.name}.`, noteBlocks: [] };
    await writeFile(join(target, 'meetings.ndjson'), `${JSON.stringify(row)}\n`);
    return target;
  };

  it('is imported, and its texts stay as they are (PRV-11)', async () => {
    await cli.json(['import', await meeting('partial')]);
    expect(await findTablesWith(au1(), PRIYA.name)).toEqual(['meeting']);
  });

  it('brings back neither an address nor a membership, nor answers and notes of the erased person (PRV-11)', async () => {
    const rowsOf = async (file: string) =>
      (await readFile(join(SAMPLES, `${file}.ndjson`), 'utf8'))
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
    const [induction] = (await rowsOf('inductions')).filter(({ data }) => data.length > 0);
    const [timesheet] = (await rowsOf('timesheets')).filter(({ builderId }) => builderId === BUILDER);
    await cli.json(['person', 'erase', induction.workerId, '--yes']);
    const [user] = await au1().fork().execute('select name from app_user where id = ?', [PRIYA.user]);
    const files = {
      users: (await rowsOf('users')).filter(({ id }) => id === PRIYA.user).map((row) => ({ ...row, name: user!.name })),
      memberships: (await rowsOf('memberships')).filter(({ userId }) => userId === PRIYA.user),
      timesheets: [{ ...timesheet, profileId: PRIYA.profile, notes: 'My back hurt.' }],
      inductions: [induction],
    };
    const target = join(folder, 'only-parts');
    await mkdir(target);
    for (const [file, rows] of Object.entries(files))
      await writeFile(join(target, `${file}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
    expect(Object.values(files).map((rows) => rows.length)).toEqual([1, 2, 1, 1]);
    await cli.json(['import', target]);
    expect(await findTablesWith(au1(), PRIYA.email)).toEqual([]);
    expect(await findTablesWith(au1(), 'My back hurt.')).toEqual([]);
    const stored = `select data, (select count(*)::int from membership where user_id = ?) as memberships from induction where id = ?`;
    expect(await au1().fork().execute(stored, [PRIYA.user, induction.id])).toEqual([{ data: [], memberships: 0 }]);
    const later = { ...induction, updatedAt: new Date(Date.now() + 86_400_000).toISOString() };
    await writeFile(join(target, 'inductions.ndjson'), `${JSON.stringify(later)}\n`);
    await cli.json(['import', target]);
    expect(await au1().fork().execute(stored, [PRIYA.user, induction.id])).toMatchObject([{ data: induction.data }]);
  });

  it('is imported with the records of the person, who is erased again, and the texts are listed (PRV-6)', async () => {
    await cli.json(['import', await meeting('with-people', 'users.ndjson', 'memberships.ndjson')]);
    expect(await findTablesWith(au1(), PRIYA.email)).toEqual([]);
    const { texts } = await cli.json(['person', 'texts', PRIYA.user]);
    const place = 'meeting/meet_partial/notes';
    expect(texts).toContainEqual({ place, builderId: BUILDER, value: `Seen by ${PRIYA.name}.` });
  });
});

describe('person texts', () => {
  const place = 'meeting/meet_priya/notes';

  it('replaces the name in one text, which is recorded, or not made (PRV-4, ACC-21)', async () => {
    expect(await cli.errorOf(['person', 'texts', PRIYA.user, '--replace', place])).toBe(
      '--name: is required with the other.',
    );
    expect(await cli.errorOf(['person', 'texts', PRIYA.user, '--replace', '', '--name', PRIYA.name])).toContain(
      '--replace:  is not on the list',
    );
    const replace = ['person', 'texts', PRIYA.user, '--replace', place, '--name'];
    expect(await cli.errorOf([...replace, 'Sam Hill'])).toBe(`--replace: ${place} does not contain "Sam Hill".`);
    const changed = await (await noteChanges(au1())).takeRefused(() => cli.run([...replace, PRIYA.name]));
    expect(changed).toEqual([]);
    const { texts } = await cli.json([...replace, 'nair, PRIYA']);
    expect(texts).toMatchObject([{ place, value: expect.stringMatching(/^Erased person [0-9a-f]{10} opens\.\n/) }]);
    const { entries } = await cli.json(['audit', 'list', '--action', 'person.text_replaced']);
    expect(entries).toMatchObject([{ after: { place }, builderId: BUILDER, origin: { command: 'person texts' } }]);
  });

  it('rejects a person who was not erased', async () => {
    expect(await cli.errorOf(['person', 'texts', 'user_none'])).toBe(
      'ID: there is no user, worker, profile or contact user_none.',
    );
  });
});

describe('builder export', () => {
  it('writes the records of the builder alone, which can be imported', async () => {
    const target = join(folder, 'builder');
    const { files } = await cli.json(['builder', 'export', BUILDER, target]);
    expect(files).toContainEqual({ file: 'builders.ndjson', rows: 1, bytes: expect.any(Number) });
    for (const name of (await readdir(target)).filter((each) => each.endsWith('.ndjson'))) {
      const lines = (await readFile(join(target, name), 'utf8')).trim().split('\n').filter(Boolean);
      const builders = lines.map((line) => JSON.parse(line).builderId ?? BUILDER);
      // A membership names the builder; users may belong to several.
      expect(new Set([...builders, BUILDER]), name).toEqual(new Set([BUILDER]));
    }
    const imported = await cli.json(['import', target, '--region', 'us1']);
    expect(imported.files).toContainEqual(expect.objectContaining({ file: 'workers.ndjson', inserted: 2 }));
    expect(await cli.errorOf(['builder', 'export', 'buil_none', target])).toBe(
      'BUILDER: there is no builder buil_none in au1.',
    );
  });
});

describe('a builder export that cannot be completed', () => {
  it('is recorded before a file is written (PRV-7)', async () => {
    const target = join(folder, 'a-file');
    const list = async () => (await cli.json(['audit', 'list', '--action', 'builder.exported'])).entries;
    const before = await list();
    expect((await cli.run(['builder', 'export', BUILDER, target])).code).not.toBe(0);
    const known = new Set(before.map((entry: { id: string }) => entry.id));
    const [entry, ...others] = (await list()).filter((entry: { id: string }) => !known.has(entry.id));
    expect(others).toEqual([]);
    expect(entry).toMatchObject({ objectId: BUILDER, builderId: BUILDER, origin: { command: 'builder export' } });
  });
});

describe('builder erase', () => {
  it('schedules the erasure, lists it and undoes it (PRV-8)', async () => {
    const scheduled = await cli.json(['builder', 'erase', BUILDER]);
    expect(scheduled).toMatchObject({ builderId: BUILDER, changed: true });
    expect(Date.parse(scheduled.dueAt) - Date.parse(scheduled.requestedAt)).toBe(30 * 24 * 3_600_000);
    const { erasures } = await cli.json(['builder', 'erasures']);
    expect(erasures).toContainEqual(expect.objectContaining({ id: scheduled.id, kind: 'BUILDER', completedAt: null }));
    await cli.json(['builder', 'erase', BUILDER, '--undo']);
    expect(await cli.errorOf(['builder', 'erase', BUILDER, '--undo'])).toBe(
      `BUILDER: no erasure of ${BUILDER} is scheduled.`,
    );
    await cli.json(['person', 'replay-erasures']);
    expect(await findTablesWith(au1(), WORKER.id)).toContain('worker');
  });

  it('erases the builder once it is due', async () => {
    await cli.json(['builder', 'erase', BUILDER]);
    await au1().fork().execute(`update erasure set due_at = now() where kind = 'BUILDER' and cancelled_at is null`);
    expect(await cli.json(['person', 'replay-erasures'])).toMatchObject({ applied: 1 });
    expect(await findTablesWith(au1(), WORKER.name)).toEqual([]);
  });
});
