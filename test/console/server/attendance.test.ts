import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { ID_PREFIXES } from '../../../schema/ids.ts';
import { MAX_SITES } from '../../../src/domain/attendance/attendance-changes.ts';
import { addStaff, ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';
import { addWorkerOnSite } from '../../support/rows.ts';

const service = useService();
let kim: ConsoleBrowser;
let alex: ConsoleBrowser;
let ids: { workerId: string; projectId: string; builderId: string };
let integrator: string;

beforeAll(async () => {
  kim = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: 'user_kim', name: 'Kim Tran' }));
  alex = await signInToConsole(
    service.app,
    await addStaff(service, 'OPERATOR', { id: 'user_alex', name: 'Alex Reid' }),
  );
  const builder = service.findDemoClient('A').builderIds[0]!;
  ids = { builderId: builder, ...(await addWorkerOnSite(service, builder)) };
  [{ id: integrator }] = (await sql('select id from integrator order by id limit 1')) as [{ id: string }];
});

const sql = (text: string, values: unknown[] = []) => service.databases.au1.fork().execute(text, values);
const instant = (hours: number) => new Date(service.clock.now() + hours * 3_600_000).toISOString();

let count = 0;
const nextId = (prefix: string) => `${prefix}_a${service.clock.now().toString(36).padStart(9, '0')}t${++count}`;

/** Adds an open visit, with the sign-on that began it. */
async function addVisit(values: { closedAt?: string; closedBy?: string } = {}) {
  const [visitId, eventId] = [nextId(ID_PREFIXES.signOnVisit), nextId(ID_PREFIXES.signOnEvent)];
  const at = instant(-3);
  await sql(
    `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, closed_at, closed_by)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [visitId, at, at, ids.builderId, ids.projectId, ids.workerId, at, values.closedAt ?? null, values.closedBy ?? null],
  );
  await sql(
    `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id,
        type, occurred_at, status, visit_id) values (?, ?, ?, ?, ?, ?, ?, ?, 'SIGN_ON', ?, 'APPLIED', ?)`,
    [eventId, at, at, integrator, ids.builderId, ids.projectId, ids.workerId, eventId, at, visitId],
  );
  return { visitId, eventId, updatedAt: at };
}

/** Adds a refused sign-off of an hour ago. */
async function addConflict(signOn: string, code = 'ATTENDANCE_CLOSED'): Promise<string> {
  const digest = nextId('digest');
  const [row] = await sql(
    `insert into sign_on_conflict (created_at, updated_at, integrator_id, builder_id, project_id, worker_id, digest, code,
        source_event_id, source_sign_on_event_id, type, occurred_at)
      values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'SIGN_OFF', ?) returning id`,
    [
      instant(0),
      instant(0),
      integrator,
      ids.builderId,
      ids.projectId,
      ids.workerId,
      digest,
      code,
      digest,
      signOn,
      instant(-1),
    ],
  );
  return String((row as { id: number }).id);
}

const CONFLICT = `id state code description answers occurredAt resolution resolutionReason resolvedBy updatedAt
  worker { id fullName } recordedEvent { id type visit { id } } visit { id closedAt closedBy closingReason }`;
const resolveConflict = (who: ConsoleBrowser, id: string, resolution: string, reason = 'The foreman saw it') =>
  who.query(
    `mutation($id: ID!, $resolution: ConflictResolution!, $reason: String!, $at: Timestamp!) {
      resolveConflict(id: $id, resolution: $resolution, reason: $reason, expectedUpdatedAt: $at) { ${CONFLICT} } }`,
    { id, resolution, reason, at: instant(0) },
  );

describe('closeVisit', () => {
  it('ends a visit with the reason and the name of the staff user (CON-6)', async () => {
    const { visitId, updatedAt } = await addVisit();
    const close = (who: ConsoleBrowser) =>
      who.query(
        `mutation($id: SignOnVisitId!, $at: Timestamp!, $seen: Timestamp!) {
          closeVisit(visitId: $id, at: $at, reason: "The gate was broken", expectedUpdatedAt: $seen) { closedAt closedBy closingReason } }`,
        { id: visitId, at: instant(-1), seen: updatedAt },
      );
    const { data, errors } = await close(kim);
    expect(errors).toBeUndefined();
    expect(data.closeVisit).toEqual({
      closedAt: instant(-1),
      closedBy: 'Kim Tran',
      closingReason: 'The gate was broken',
    });
    const [entry] = await service.databases.au1.fork().find(AuditEntry, { objectId: visitId, action: 'visit.closed' });
    expect(entry).toMatchObject({ actorId: 'user_kim', valuesAfter: { closingReason: 'The gate was broken' } });
    expect((await close(alex)).errors![0]!.message).toMatch(/^Kim Tran changed it at /);
  });
});

describe('a second person', () => {
  const close = (who: ConsoleBrowser, id: string, seen: string) =>
    who.query(
      `mutation { closeVisit(visitId: "${id}", at: "${instant(-1)}", reason: "Went home", expectedUpdatedAt: "${seen}") { updatedAt } }`,
    );
  const archive = (id: string, seen: string) =>
    kim.query(`mutation { archiveVisit(visitId: "${id}", expectedUpdatedAt: "${seen}") { updatedAt } }`);

  it('who closes or archives a visit that is closed or archived already sees that (CON-6)', async () => {
    const { visitId, updatedAt } = await addVisit();
    service.clock.advance(1000);
    const closed = (await close(kim, visitId, updatedAt)).data.closeVisit.updatedAt;
    const second = await close(alex, visitId, closed);
    expect(second.errors![0]).toMatchObject({
      message: expect.stringMatching(/^Kim Tran closed it at .*: Went home$/),
      extensions: { code: 'EDIT_CONFLICT' },
    });
    const archived = (await archive(visitId, closed)).data.archiveVisit.updatedAt;
    expect((await archive(visitId, archived)).errors![0]!.message).toMatch(/^It was archived at /);
  });

  it.each(['USE_EVENT_TIME', 'KEEP_RECORD'])(
    'who resolves a conflict by %s sees that the visit has changed since (CON-9)',
    async (resolution) => {
      const { visitId, eventId, updatedAt } = await addVisit();
      const id = await addConflict(eventId);
      const find = async () =>
        (await alex.query(`{ conflict(id: "${id}") { updatedAt visit { closedAt } } }`)).data.conflict;
      const seen = await find();
      service.clock.advance(1000);
      const closed = (await close(kim, visitId, updatedAt)).data.closeVisit.updatedAt;
      const decide = (at: string) =>
        alex.query(
          `mutation { resolveConflict(id: "${id}", resolution: ${resolution}, reason: "The gate", expectedUpdatedAt: "${at}") { state } }`,
        );
      expect((await decide(seen.updatedAt)).errors![0]).toMatchObject({
        message: expect.stringMatching(/^Kim Tran changed it at /),
        extensions: { code: 'EDIT_CONFLICT' },
      });
      const [visit] = await sql('select closed_by from sign_on_visit where id = ?', [visitId]);
      expect(visit).toEqual({ closed_by: 'Kim Tran' });
      expect((await find()).updatedAt).toBe(closed);
      // The gate sends its event again, which changes nothing.
      service.clock.advance(1000);
      await sql('update sign_on_conflict set answers = answers + 1, updated_at = ? where id = ?', [instant(0), id]);
      expect((await decide(closed)).data.resolveConflict.state).toBe('RESOLVED');
    },
  );
});

describe('resolveConflict', () => {
  it('shows both sides, and ends the visit when the gate saw the worker leave (CON-9)', async () => {
    const { visitId, eventId } = await addVisit({ closedAt: instant(-2), closedBy: 'Robin' });
    const id = await addConflict(eventId);
    const open = (await kim.query(`{ conflicts(state: OPEN) { data { ${CONFLICT} } } }`)).data.conflicts.data;
    expect(open[0]).toMatchObject({
      ...{ id, state: 'OPEN', code: 'ATTENDANCE_CLOSED', worker: { id: ids.workerId } },
      recordedEvent: { id: eventId, type: 'SIGN_ON', visit: { id: visitId } },
      visit: { id: visitId, closedAt: instant(-2), closedBy: 'Robin' },
    });
    const { data, errors } = await resolveConflict(kim, id, 'USE_EVENT_TIME');
    expect(errors).toBeUndefined();
    expect(data.resolveConflict).toMatchObject({
      ...{ state: 'RESOLVED', resolution: 'USE_EVENT_TIME', resolvedBy: 'Kim Tran' },
      visit: { closedAt: instant(-1), closedBy: 'Kim Tran', closingReason: 'The foreman saw it' },
    });
  });

  it('keeps what is recorded', async () => {
    const { eventId } = await addVisit({ closedAt: instant(-2), closedBy: 'Robin' });
    const { data } = await resolveConflict(kim, await addConflict(eventId), 'KEEP_RECORD');
    expect(data.resolveConflict.visit).toMatchObject({ closedAt: instant(-2), closedBy: 'Robin' });
  });

  it('shows the second of two staff users the decision of the first (CON-9)', async () => {
    const { eventId } = await addVisit({ closedAt: instant(-2), closedBy: 'Robin' });
    const id = await addConflict(eventId);
    const results = await Promise.all([
      resolveConflict(kim, id, 'KEEP_RECORD', 'Kim says'),
      resolveConflict(alex, id, 'KEEP_RECORD', 'Alex says'),
    ]);
    const rejected = results.filter(({ errors }) => errors);
    expect(rejected).toHaveLength(1);
    expect(rejected[0]!.errors![0]!.message).toMatch(/^(?:Kim Tran|Alex Reid) resolved it at .*: (?:Kim|Alex) says$/);
    const winner = results.find(({ errors }) => !errors)!.data.resolveConflict.resolvedBy === 'Kim Tran' ? kim : alex;
    const reason = winner === kim ? 'Kim says' : 'Alex says';
    expect((await resolveConflict(winner, id, 'KEEP_RECORD', reason)).errors).toBeUndefined();
  });

  it('does not change what a gate has recorded (CON-9)', async () => {
    const { visitId, eventId } = await addVisit();
    await sql('update sign_on_visit set signed_off_at = ? where id = ?', [instant(-2), visitId]);
    const { errors } = await resolveConflict(kim, await addConflict(eventId, 'ALREADY_SIGNED_OFF'), 'USE_EVENT_TIME');
    expect(errors![0]!.message).toContain('a gate signed the worker off at');
  });
});

describe('a day of the attendance board', () => {
  it('is read by the day, whatever waits from earlier ones (ATT-32)', async () => {
    const addPending = async (occurredAt: string) => {
      const id = nextId(ID_PREFIXES.signOnEvent);
      await sql(
        `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id,
            source_sign_on_event_id, type, occurred_at, status) values (?, ?, ?, ?, ?, ?, ?, ?, 'absent', 'SIGN_OFF', ?, 'PENDING_SIGN_ON')`,
        [id, instant(0), instant(0), integrator, ids.builderId, ids.projectId, ids.workerId, id, occurredAt],
      );
      return id;
    };
    for (let day = 0; day < 26; day++) await addPending('2026-01-10T03:00:00Z');
    // In Sydney, the 12th of January began at 13:00Z of the 11th.
    await addPending('2026-01-11T12:59:59Z');
    const ofDay = [await addPending('2026-01-11T13:00:00Z'), await addPending('2026-01-12T12:59:59Z')];
    await addPending('2026-01-12T13:00:00Z');
    const query = `query($builder: BuilderId!, $project: ProjectId!) {
      project(builderId: $builder, projectId: $project) {
        pendingSignOffs(date: "2026-01-12", timeZone: "Australia/Sydney") { meta { totalCount } data { id } } } }`;
    const { data } = await kim.query(query, { builder: ids.builderId, project: ids.projectId });
    const { meta, data: events } = data.project.pendingSignOffs;
    expect(meta.totalCount).toBe(2);
    expect(events.map(({ id }: { id: string }) => id).sort()).toEqual(ofDay.sort());
  });

  it('has all its visits, whoever began them, and no archived ones (CON-5, CON-14)', async () => {
    const addVisits = (name: string, count: number, signedOnAt: string, archivedAt: string | null = null) =>
      sql(
        `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, archived_at)
          select ? || n, now(), now(), ?, ?, ?, ?, ? from generate_series(1, ?::int) n`,
        [name, ids.builderId, ids.projectId, ids.workerId, signedOnAt, archivedAt, count],
      );
    // The builder's days are those of Sydney, where the 13th of January began at 13:00Z of the 12th.
    await addVisits('visit_before', 1, '2026-01-12T12:59:59Z');
    await addVisits('visit_day', 130, '2026-01-12T13:00:00Z');
    await addVisits('visit_archived', 1, '2026-01-12T14:00:00Z', '2026-01-12T15:00:00Z');
    await addVisits('visit_after', 1, '2026-01-13T13:00:00Z');
    const read = (who: ConsoleBrowser, project = `projectId: "${ids.projectId}", `) =>
      who.query(
        `{ visitsOfDay(builderId: "${ids.builderId}", ${project}date: "2026-01-13") {
          id worker { fullName } events(limit: 5) { data { id } } } }`,
      );
    const { data, errors } = await read(kim);
    expect(errors).toBeUndefined();
    expect(data.visitsOfDay).toHaveLength(130);
    for (const { id } of data.visitsOfDay) expect(id).toMatch(/^visit_day/);
    const { projectId } = await addWorkerOnSite(service, ids.builderId);
    await sql('update sign_on_visit set project_id = ? where id = ?', [projectId, 'visit_day1']);
    expect((await read(kim)).data.visitsOfDay).toHaveLength(129);
    const ofAllProjects = (await read(kim, '')).data.visitsOfDay as { id: string }[];
    expect(ofAllProjects.filter(({ id }) => id.startsWith('visit_day'))).toHaveLength(130);
    const entries = await service.databases.au1
      .fork()
      .find(AuditEntry, { action: 'person.read', actorId: 'user_kim', personId: ids.workerId });
    expect(entries.flatMap(({ valuesAfter }) => valuesAfter!.categories)).toContain('SignOnVisit');
    const viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
    expect((await read(viewer)).errors![0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');

    await addVisits('visit_many', 4_872, '2026-01-12T16:00:00Z');
    expect((await read(kim)).errors![0]!.extensions.errors).toEqual([
      { fieldName: 'date', message: 'has more than 5000 visits' },
    ]);
  });

  it('has the conflicts between two instants', async () => {
    const { eventId } = await addVisit();
    const id = await addConflict(eventId);
    const list = async (since: string, until: string) =>
      (
        await kim.query(
          `{ conflicts(projectId: "${ids.projectId}", since: "${since}", until: "${until}") { data { id } } }`,
        )
      ).data.conflicts.data;
    expect(await list(instant(-1), instant(0))).toContainEqual({ id });
    expect(await list(instant(-2), instant(-1))).not.toContainEqual({ id });
    expect(await list(instant(0), instant(1))).not.toContainEqual({ id });
  });
});

describe('the number of a conflict', () => {
  it('may exceed 2^31: each repeated conflict takes one (CON-9)', async () => {
    const { eventId } = await addVisit();
    await sql(`select setval('sign_on_conflict_id_seq', 5000000000)`);
    const id = await addConflict(eventId);
    expect(id).toBe('5000000001');
    expect((await kim.query(`{ conflict(id: "${id}") { id } }`)).data.conflict).toEqual({ id });
    expect((await kim.query('{ conflicts(limit: 1) { data { id } } }')).data.conflicts.data).toEqual([{ id }]);
    expect((await resolveConflict(kim, id, 'KEEP_RECORD')).errors).toBeUndefined();
  });
});

describe('changes', () => {
  const poll = async (after: string | null) =>
    (
      await kim.query('query($after: String) { changes(after: $after) { cursor projectIds builderIds reset } }', {
        after,
      })
    ).data.changes;

  it('names the projects whose attendance changed since the poll before, once (CON-8)', async () => {
    // Conflicts before the first poll are no changes.
    await addConflict('none');
    const { cursor, ...first } = await poll(null);
    expect(first).toEqual({ projectIds: [], builderIds: [], reset: true });
    // At the same time and position, both cursors would be the same, and the second poll would find nothing by that alone.
    service.clock.advance(1);
    const unchanged = await poll(cursor);
    expect(unchanged).toMatchObject({ projectIds: [], reset: false });
    const { visitId, updatedAt } = await addVisit();
    service.clock.advance(500);
    // The visit began hours before its event was received.
    await sql(`update sign_on_event set id = ? where visit_id = ?`, [nextId(ID_PREFIXES.signOnEvent), visitId]);
    const changed = await poll(unchanged.cursor);
    expect(changed).toMatchObject({ projectIds: [ids.projectId], builderIds: [ids.builderId], reset: false });
    expect((await poll(changed.cursor)).projectIds).toEqual([]);
    await kim.query(`mutation { archiveVisit(visitId: "${visitId}", expectedUpdatedAt: "${updatedAt}") { id } }`);
    expect((await poll(changed.cursor)).projectIds).toEqual([ids.projectId]);
  });

  it('are everything again where as many sites have changed as one poll names (CON-8)', async () => {
    const { cursor } = await poll(null);
    service.clock.advance(500);
    const at = instant(0);
    await sql(
      `with added as (insert into project
          select (jsonb_populate_record(null::project, to_jsonb(first) || jsonb_build_object('id', 'proj_many' || n))).*
          from (select * from project order by id limit 1) first, generate_series(1, ${MAX_SITES}) n returning id, builder_id)
        insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id, type,
          occurred_at, status) select ? || row_number() over (), ?, ?, ?, builder_id, id, ?, id, 'SIGN_ON', ?, 'APPLIED' from added`,
      [nextId(ID_PREFIXES.signOnEvent), at, at, integrator, ids.workerId, at],
    );
    expect((await poll(cursor)).reset).toBe(true);
  });

  it('reports a row whose transaction commits after a later one was reported (CON-8)', async () => {
    const { cursor } = await poll(null);
    const { visitId } = await addVisit();
    await service.databases.au1.transaction(async (em) => {
      await em.execute('update sign_on_event set id = ? where visit_id = ?', [
        nextId(ID_PREFIXES.signOnEvent),
        visitId,
      ]);
      const during = await poll(cursor);
      await addConflict('none');
      const later = await poll(during.cursor);
      expect(later.projectIds).toEqual([ids.projectId]);
      open = later.cursor;
    });
    expect((await poll(open)).projectIds).toEqual([ids.projectId]);
  });
  let open: string;

  it('names the project of an old conflict when it is resolved (CON-8)', async () => {
    const id = await addConflict('none');
    // Only the latest conflicts are read themselves. Changes of older ones come from the audit log.
    await sql(`select setval('sign_on_conflict_id_seq', ?::bigint + 1000)`, [id]);
    await addConflict('none');
    const { cursor } = await poll(null);
    expect((await resolveConflict(kim, id, 'KEEP_RECORD')).errors).toBeUndefined();
    service.clock.advance(1);
    expect(await poll(cursor)).toMatchObject({ projectIds: [ids.projectId], reset: false });
  });

  it('names the project of a sign-off that has waited for long when it is dismissed (CON-8)', async () => {
    const [id, at] = [nextId(ID_PREFIXES.signOnEvent), instant(0)];
    await sql(
      `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id, type,
        source_sign_on_event_id, occurred_at, status) values (?, ?, ?, ?, ?, ?, ?, ?, 'SIGN_OFF', 'never sent', ?, 'PENDING_SIGN_ON')`,
      [id, at, at, integrator, ids.builderId, ids.projectId, ids.workerId, id, at],
    );
    // Only the latest events are read themselves.
    service.clock.advance(60_000);
    const { cursor } = await poll(null);
    const { errors } = await kim.query(
      `mutation { dismissSignOff(signOnEventId: "${id}", reason: "A test of the gate", expectedUpdatedAt: "${at}") { id } }`,
    );
    expect(errors).toBeUndefined();
    service.clock.advance(1);
    expect(await poll(cursor)).toMatchObject({ projectIds: [ids.projectId], reset: false });
  });

  it('are the same for a cursor of another process (CON-8)', async () => {
    const other = new ConsoleBrowser(await service.startInstance());
    for (const [name, value] of kim.cookies) other.cookies.set(name, value);
    const { data } = await other.query('{ changes { cursor } }');
    const { visitId } = await addVisit();
    await sql('update sign_on_event set id = ? where visit_id = ?', [nextId(ID_PREFIXES.signOnEvent), visitId]);
    const changed = await poll(data.changes.cursor);
    expect(changed).toMatchObject({ builderIds: [ids.builderId], reset: false });
    expect((await poll(changed.cursor)).builderIds).toEqual([]);
  });

  it('has the records of the event log', async () => {
    // It is null while the service numbers them, and leaves out events while a transaction that is older runs.
    const number = () => sql('select number_events(20000) as count');
    await expect.poll(async () => (await number())[0]!.count).toBe(0);
    const { cursor } = await poll(null);
    await sql('update project set name = name where id = ?', [ids.projectId]);
    const findChanged = async () => {
      await number();
      return (await poll(cursor)).builderIds;
    };
    await expect.poll(findChanged).toEqual([ids.builderId]);
  });

  it('begins anew after ten minutes, and rejects a made-up cursor (CON-8)', async () => {
    const { cursor } = await poll(null);
    service.clock.advance(600_001);
    expect((await poll(cursor)).reset).toBe(true);
    const { cursor: fresh } = await poll(null);
    const [content, signature] = fresh.split('.');
    const [events, , at] = JSON.parse(Buffer.from(content, 'base64url').toString());
    const forged = Buffer.from(JSON.stringify([events, '1:1:', at - 500_000])).toString('base64url');
    const feed = await service.get('/events', await service.tokenOf('A', ['read:projects']));
    const statements: string[] = [];
    const end = service.databases.au1.runner.onStatement(({ name }) => statements.push(name));
    for (const after of [
      'x',
      '',
      content,
      `${content}.${'A'.repeat(22)}`,
      `${forged}.${signature}`,
      feed.json().meta.nextCursor,
      Buffer.from('["a","1:1:;drop",5]').toString('base64url'),
      Buffer.from('5').toString('base64url'),
    ]) {
      const { errors } = await kim.query('query($after: String) { changes(after: $after) { cursor } }', { after });
      expect(errors![0]!.extensions).toMatchObject({
        code: 'BAD_USER_INPUT',
        errors: [{ fieldName: 'after', message: 'must be the cursor of an earlier poll of this region' }],
      });
    }
    end();
    expect(statements.filter((name) => /^(?:attendance|events.page)/.test(name))).toEqual([]);
  });

  it('are read beside the small reads of requests (CON-8)', async () => {
    const { cursor } = await poll(null);
    const { runner, slowRunner, backgroundRunner } = service.databases.au1;
    const reads = { small: 0, slow: 0, background: 0 };
    const count = (kind: keyof typeof reads) => (statement: { name: string }) => {
      if (statement.name === 'attendance.changes') reads[kind]++;
    };
    const ends = [
      runner.onStatement(count('small')),
      slowRunner.onStatement(count('slow')),
      backgroundRunner.onStatement(count('background')),
    ];
    await poll(cursor);
    expect(reads).toEqual({ small: 0, slow: 0, background: 1 });
    for (const end of ends) end();
  });
});
