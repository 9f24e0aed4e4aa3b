import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { addPhoto } from '../../photo-reports/photo-rows.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';

const service = useService();
let kim: ConsoleBrowser;
let alex: ConsoleBrowser;
let viewer: ConsoleBrowser;
let builderId: string;
/** Cursor of the last poll. */
let cursor: string;

beforeAll(async () => {
  kim = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: 'user_kim' }));
  alex = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: 'user_alex' }));
  viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
  builderId = service.findDemoClient('A').builderIds[0]!;
});

afterEach(() => {
  vi.useRealTimers();
});

let polls = 0;
beforeEach(() => {
  // The service compares it with those of other requests only.
  cursor = `poll ${++polls}`;
});

const timesheets = (fields = 'id hours', limit = 5) =>
  `{ timesheets(builderId: "${builderId}", limit: ${limit}) { data { ${fields} } } }`;
const readAs = (who: ConsoleBrowser, query: string, headers: Record<string, string> = { 'x-console-cursor': cursor }) =>
  who.query(query, {}, headers);

/** Returns how many statements read timesheets while the work runs. */
async function countReads(work: () => Promise<unknown>): Promise<number> {
  let count = 0;
  const end = service.databases.au1.onStatement(({ name }) => {
    if (name.startsWith('Timesheet')) count++;
  });
  await work();
  end();
  return count;
}

describe('a page that is read again after a poll', () => {
  it('is read once for all tabs of that poll (CON-18)', async () => {
    // Extends the sharing from one second to a minute, because the reads take longer than a second on a loaded machine.
    const startTimer = setTimeout;
    const timers = vi.spyOn(globalThis, 'setTimeout');
    timers.mockImplementation((run, milliseconds, ...args) =>
      startTimer(run, milliseconds === 1_000 ? 60_000 : milliseconds, ...args),
    );
    onTestFinished(() => timers.mockRestore());
    let results: Awaited<ReturnType<typeof readAs>>[] = [];
    const reads = await countReads(async () => {
      results = await Promise.all([kim, alex, kim].map((who) => readAs(who, timesheets())));
      results.push(await readAs(alex, timesheets()));
    });
    expect(reads).toBe(1);
    expect(results[0]!.data.timesheets.data).toHaveLength(5);
    for (const { data, errors } of results) expect({ data, errors }).toEqual({ data: results[0]!.data });
  });

  it.each([
    ['without the poll', () => readAs(alex, timesheets(), {})],
    ['after another poll', () => readAs(alex, timesheets(), { 'x-console-cursor': 'another' })],
    ['with other arguments', () => readAs(alex, timesheets('id hours', 4))],
    ['by another role', () => readAs(viewer, timesheets())],
    [
      'for one builder',
      () => readAs(alex, timesheets(), { 'x-console-cursor': cursor, 'x-service-builder-id': builderId }),
    ],
  ])('is read apart %s (CON-18)', async (_, readAgain) => {
    await readAs(kim, timesheets());
    expect(await countReads(readAgain)).toBe(1);
  });

  it('is read anew a second later (CON-18)', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    await readAs(kim, timesheets());
    vi.advanceTimersByTime(999);
    expect(await countReads(() => readAs(alex, timesheets()))).toBe(0);
    vi.advanceTimersByTime(1);
    expect(await countReads(() => readAs(alex, timesheets()))).toBe(1);
  });

  it('is recorded for each person who has read it (CON-5, CON-18)', async () => {
    const query = timesheets('id profile { fullName }');
    await Promise.all([kim, alex].map((who) => readAs(who, query)));
    const people = async (actorId: string) => {
      const entries = await service.databases.au1.fork().find(AuditEntry, { action: 'person.read', actorId });
      return entries.map(({ personId }) => personId).sort();
    };
    expect((await people('user_alex')).length).toBeGreaterThan(0);
    expect(await people('user_alex')).toEqual(await people('user_kim'));
  });

  it('is not for a viewer where it names people, whoever has read it (CON-5, CON-18)', async () => {
    const query = timesheets('id profile { fullName }');
    await readAs(kim, query);
    expect((await readAs(viewer, query)).errors![0]!.extensions.code).toBe('FORBIDDEN');
  });

  it('is for nobody whose session has ended, whoever has read it (CON-2, CON-18)', async () => {
    const robin = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: 'user_robin' }));
    await Promise.all([kim, robin].map((who) => readAs(who, timesheets())));
    await service.databases.au1.fork().execute(`update app_user set staff_role = null where id = 'user_robin'`);
    expect((await readAs(robin, timesheets())).status).toBe(401);
  });

  it('has URLs that are signed for each person who has read it (LIM-19, CON-18)', async () => {
    await addPhoto(service, builderId);
    const photos = `{ photos(builderId: "${builderId}", limit: 1) { data { imageUrl } } }`;
    const results = await Promise.all([kim, alex].map((who) => readAs(who, photos)));
    const urls = results.map(({ data }) => data.photos.data[0].imageUrl as string);
    expect(urls[0]).toContain('user_kim');
    expect(urls[1]).toContain('user_alex');
  });

  it('is read by each person where it is about that person (CON-18)', async () => {
    const names = await Promise.all([kim, alex].map(async (who) => (await readAs(who, '{ me { id } }')).data.me.id));
    expect(names).toEqual(['user_kim', 'user_alex']);
    const both = `{ ...Me ${timesheets().slice(1)} fragment Me on Query { me { id } }`;
    const ids = await Promise.all([kim, alex].map(async (who) => (await readAs(who, both)).data.me.id));
    expect(ids).toEqual(['user_kim', 'user_alex']);
  });

  it('is read again by the next tab when reading it has failed', async () => {
    const sql = (text: string) => service.databases.au1.fork().execute(text);
    await sql('alter table timesheet rename to timesheet_away');
    const failed = await readAs(kim, timesheets());
    await sql('alter table timesheet_away rename to timesheet');
    expect(failed.errors).toHaveLength(1);
    expect((await readAs(alex, timesheets())).data.timesheets.data).toHaveLength(5);
  });
});
