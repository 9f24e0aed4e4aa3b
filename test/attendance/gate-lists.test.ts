import { type GraphQLObjectType, getNamedType, isObjectType } from 'graphql';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { OWN_CONFLICTS, OWN_EVENTS, ROSTER } from '../../entities/gate-lists.type.ts';
import { grantSiteAccess, revokeSiteAccess } from '../../src/domain/access/site-access.ts';
import { listChanges, readChanges, startListingChanges } from '../../src/domain/attendance/change-lists.ts';
import { closeVisit } from '../../src/domain/attendance/manual-changes.ts';
import { resolveConflict } from '../../src/domain/attendance/resolve-conflict.ts';
import { aSignOff, aSignOn, createGateFixture, type GateEvent, sendEvent } from '../support/attendance.ts';
import { OPERATOR } from '../support/audit.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';

/* What a gate reads (ATT-35 to ATT-40): the roster, the events that it sent, and its conflicts. */

interface Page {
  data: Record<string, unknown>[];
  meta: { nextCursor: string; hasMore: boolean };
}

const service = useService();
const { builderId, projectId, workers } = createGateFixture();
const [worker, colleague, third] = workers.active as [string, string, string];
let token: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
});

const pathOf = (list: string, project = projectId) => `/builders/${builderId}/projects/${project}/${list}`;
const request = (url: string, as = token) => service.request({ url, headers: { authorization: `Bearer ${as}` } });
async function read(url: string, as = token): Promise<Page> {
  const response = await request(url, as);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

/** Reads all pages, and returns the rows with the cursor behind them. */
async function readAll(list: string, query = '') {
  const rows: Page['data'] = [];
  for (let cursor = ''; ; ) {
    const { data, meta } = await read(`${pathOf(list)}?cursor=${cursor}&${query}`);
    rows.push(...data);
    if (!meta.hasMore) return { rows, cursor: meta.nextCursor };
    cursor = meta.nextCursor;
  }
}

const listWorkers = ({ data }: Page) => data.map(({ workerId }) => workerId);
const changedSince = async (list: string, cursor: string) => read(`${pathOf(list)}?cursor=${cursor}`);
const updateWorker = 'update worker set full_name = $2 where id = $1';
const execute = (sql: string, values: unknown[] = []): Promise<{ [column: string]: string }[]> =>
  service.databases.au1.fork().execute(sql, values);
const context = () => ({ database: service.databases.au1, clock: service.clock, source: OPERATOR });

describe('GET …/site-access', () => {
  it('returns present and revoked workers in the order of their last change (ATT-35)', async () => {
    const { rows } = await readAll('site-access', 'limit=3');
    const stored = await execute('select worker_id as id from site_access where project_id = ?', [projectId]);
    expect(rows.map(({ workerId }) => workerId).sort()).toEqual(stored.map(({ id }) => id).sort());
    const keys = rows.map(({ updatedAt, id }) => `${updatedAt} ${id}`);
    expect(keys).toEqual([...keys].sort());
    const entry = rows.find(({ workerId }) => workerId === worker)!;
    const [shown = {}] = await execute(
      `select full_name, subcontractor.id, name, granted_at::text, (select status from induction where worker_id = worker.id
          and project_id = site_access.project_id order by created_at desc, id desc limit 1) as induction from worker join subcontractor on subcontractor.id = subcontractor_id
        join site_access on worker_id = worker.id and project_id = ? where worker.id = ?`,
      [projectId, worker],
    );
    expect(entry).toEqual({
      id: worker.replace('wkr_', 'access_'),
      workerId: worker,
      fullName: shown.full_name,
      subcontractor: { id: shown.id, name: shown.name },
      status: 'ACTIVE',
      inductionStatus: shown.induction,
      grantedAt: new Date(shown.granted_at!).toISOString(),
      revokedAt: null,
      updatedAt: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/),
    });
    const revoked = rows.find(({ workerId }) => workerId === workers.revoked[0])!;
    expect(revoked).toMatchObject({ status: 'REVOKED', revokedAt: expect.any(String) });
  });

  it('hides induction states unless token and connection have read:inductions (ATT-35)', async () => {
    const states = ({ data }: Page) => [...new Set(data.map(({ inductionStatus }) => inductionStatus))];
    expect(states(await read(pathOf('site-access'), await service.tokenOf('A', ['write:sign_on_events'])))).toEqual([
      null,
    ]);
    const scopes = ['write:sign_on_events', 'read:inductions'];
    const reader = await service.tokenOf('A', scopes);
    expect(states(await read(pathOf('site-access'), reader))).toContain('REVIEWED');
    const setScopes = (value: string) =>
      execute(
        `update connection set scopes = ${value} where builder_id = ? and integrator_id =
        (select integrator_id from oauth_client where id = ?)`,
        [builderId, service.findDemoClient('A').clientId],
      );
    await setScopes(`array_remove(scopes, 'read:inductions')`);
    service.clock.advance(1_000);
    expect(states(await read(pathOf('site-access'), reader))).toEqual([null]);
    await setScopes(`array_append(scopes, 'read:inductions')`);
    service.clock.advance(1_000);
  });

  it.each([
    ['a revocation', () => revokeSiteAccess(context(), { workerId: worker, projectId }), { status: 'REVOKED' }],
    [
      'a new grant',
      () => grantSiteAccess(context(), { workerId: worker, projectId }),
      { status: 'ACTIVE', revokedAt: null },
    ],
    [
      'a new name',
      () => execute(`update worker set full_name = 'Sam Okafor' where id = ?`, [worker]),
      { fullName: 'Sam Okafor' },
    ],
    [
      'the status of an induction',
      () =>
        execute(`update induction set status = 'CHANGES_REQUESTED' where worker_id = ? and project_id = ?`, [
          worker,
          projectId,
        ]),
      { inductionStatus: 'CHANGES_REQUESTED' },
    ],
    [
      'a newer induction',
      () =>
        execute(
          `insert into induction (id, created_at, updated_at, builder_id, project_id, worker_id, subcontractor_id, identifier, type, status)
            select 'ind_newer', created_at + interval '1 day', now(), builder_id, project_id, worker_id, subcontractor_id, 90000, type, 'REVIEWED'
            from induction where worker_id = ? and project_id = ? limit 1`,
          [worker, projectId],
        ),
      { inductionStatus: 'REVIEWED' },
    ],
    [
      'a deleted induction',
      () => execute('delete from induction where worker_id = ? and project_id = ?', [worker, projectId]),
      { inductionStatus: null },
    ],
  ])('lists %s as a change, at the cursor and the time of the last read (ATT-36)', async (_, change, expected) => {
    const { rows, cursor } = await readAll('site-access');
    await change();
    for (const query of [`cursor=${cursor}`, `updatedSince=${rows.at(-1)!.updatedAt}`]) {
      const { data } = await read(`${pathOf('site-access')}?${query}`);
      expect(data.at(-1)).toMatchObject({ workerId: worker, ...expected });
    }
  });

  it('lists all workers of a renamed subcontractor', async () => {
    const { cursor } = await readAll('site-access');
    const [{ id } = {}] = await execute('select subcontractor_id as id from worker where id = ?', [worker]);
    const members = await execute(
      'select worker_id as id from site_access join worker on worker.id = worker_id where project_id = ? and subcontractor_id = ?',
      [projectId, id],
    );
    await execute(`update subcontractor set name = 'New Steel' where id = ?`, [id]);
    const page = await changedSince('site-access', cursor);
    expect(listWorkers(page).sort()).toEqual(members.map(({ id }) => id).sort());
    expect(page.data[0]).toMatchObject({ subcontractor: { id, name: 'New Steel' } });
  });

  it('ignores changes that no entry shows', async () => {
    const { cursor } = await readAll('site-access');
    await execute('update worker set updated_at = now() where id = ?', [worker]);
    await execute(
      'update subcontractor set tags = tags where id = (select subcontractor_id from worker where id = ?)',
      [worker],
    );
    expect((await changedSince('site-access', cursor)).data).toEqual([]);
  });
});

describe('the order of changes (ATT-36)', () => {
  it('has a change that was open when the cursor and the time were taken', async () => {
    const slow = await ConcurrentTransaction.open(service.databases.au1.url);
    await readAll('site-access');
    let cursor = '';
    let time = '';
    await slow.whileOpen(updateWorker, [colleague, 'Slow Name'], async () => {
      await revokeSiteAccess(context(), { workerId: third, projectId });
      const before = await readAll('site-access');
      // Other changes are listed meanwhile.
      expect(before.rows.at(-1)).toMatchObject({ workerId: third, status: 'REVOKED' });
      cursor = before.cursor;
      time = new Date().toISOString();
    });
    for (const query of [`cursor=${cursor}`, `updatedSince=${time}`]) {
      const { data } = await read(`${pathOf('site-access')}?${query}`);
      expect(data).toMatchObject([{ workerId: colleague, fullName: 'Slow Name' }]);
    }
    await slow.close();
  });

  it('has a grant and a new name whose transactions overlap', async () => {
    const [newcomer] = workers.none as [string];
    const slow = await ConcurrentTransaction.open(service.databases.au1.url);
    const { cursor } = await readAll('site-access');
    await slow.whileOpen(updateWorker, [newcomer, 'Changed Since'], async () => {
      await grantSiteAccess(context(), { workerId: newcomer, projectId });
      const page = await changedSince('site-access', cursor);
      expect(listWorkers(page)).toEqual([newcomer]);
      expect(page.data[0]).not.toMatchObject({ fullName: 'Changed Since' });
    });
    expect((await changedSince('site-access', cursor)).data).toMatchObject([{ fullName: 'Changed Since' }]);
    await slow.close();
  });

  it('leaves an entry that an open transaction changes again, and waits for none', async () => {
    const slow = await ConcurrentTransaction.open(service.databases.au1.url);
    const { cursor } = await readAll('site-access');
    const sql = 'update site_access set granted_at = now() where worker_id = $1 and project_id = $2';
    await execute(`update worker set full_name = 'Twice' where id = ?`, [worker]);
    await slow.whileOpen(sql, [worker, projectId], async () => {
      expect((await changedSince('site-access', cursor)).data).toEqual([]);
    });
    expect((await changedSince('site-access', cursor)).data).toMatchObject([{ workerId: worker, fullName: 'Twice' }]);
    await slow.close();
  });

  it('does not go back with the clock', async () => {
    const { cursor } = await readAll('site-access');
    await execute(`select setval('change_time', last_value + 3600000) from change_time`);
    for (const name of ['First', 'Second']) {
      await execute('update worker set full_name = ? where id = ?', [name, worker]);
      await listChanges(service.databases.au1);
    }
    const later = await changedSince('site-access', cursor);
    expect(later.data).toMatchObject([{ workerId: worker, fullName: 'Second' }]);
    await execute(`update worker set full_name = 'Third' where id = ?`, [worker]);
    expect((await changedSince('site-access', later.meta.nextCursor)).data).toMatchObject([{ fullName: 'Third' }]);
  });

  it('stays readable in a database that cannot be written', async () => {
    const { cursor } = await readAll('site-access');
    await execute(`update worker set full_name = 'Unlisted' where id = ?`, [worker]);
    const readOnly = new pg.Client({ connectionString: service.databases.au1.url });
    await readOnly.connect();
    await readOnly.query('set default_transaction_read_only = on');
    expect((await readOnly.query('select list_changes(1000)')).rows).toEqual([{ list_changes: 0 }]);
    await readOnly.end();
    expect((await changedSince('site-access', cursor)).data).toMatchObject([{ fullName: 'Unlisted' }]);
  });

  it('lists changes although nobody reads', async () => {
    const stop = startListingChanges(service.databases, { error: () => undefined, info: () => undefined });
    await execute(`update worker set full_name = 'Unread' where id = ?`, [worker]);
    await expect.poll(() => execute('select from roster_change'), { interval: 50 }).toEqual([]);
    await stop();
  });

  it('lists a thousand changes at a time', async () => {
    const id = await addProject(service, builderId);
    await execute(
      `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
        select 'wkr_many' || n, now(), now(), builder_id, subcontractor_id, 'Worker' from worker, generate_series(1, 1500) n where id = ?`,
      [worker],
    );
    await execute(
      `insert into site_access (builder_id, worker_id, project_id, granted_at) select builder_id, id, ?, now() from worker where id like 'wkr_many%'`,
      [id],
    );
    const seen = new Set();
    for (let cursor = '', hasMore = true; hasMore; ) {
      const page = await read(`${pathOf('site-access', id)}?cursor=${cursor}`);
      for (const { workerId } of page.data) seen.add(workerId);
      ({ nextCursor: cursor, hasMore } = page.meta);
    }
    expect(seen.size).toBe(1500);
    expect(await listChanges(service.databases.au1)).toBe(0);
  });
});

describe('GET …/sign-on-events', () => {
  const post = async (event: GateEvent, as = token) => (await sendEvent(service.app, as, event)).body;

  it('returns what was sent and what became of it (ATT-37)', async () => {
    const { cursor } = await readAll('sign-on-events');
    const on = aSignOn(worker, { deviceId: 'gate-2', occurredAt: '2026-05-20T21:00:00Z' });
    const off = aSignOff(on, { occurredAt: '2026-05-21T05:30:00Z' });
    const rejected = aSignOff(on, { workerId: colleague });
    const pending = await post(off);
    await post(rejected);
    const waiting = { status: 'PENDING_SIGN_ON', occurredAt: '2026-05-21T05:30:00.000Z', signOnId: null, visit: null };
    expect(
      (await changedSince('sign-on-events', cursor)).data
        .map(({ sourceEventId, ...event }) => [sourceEventId, event])
        .sort(),
    ).toMatchObject([off, rejected].map(({ sourceEventId, ...event }) => [sourceEventId, { ...event, ...waiting }]));
    const { data } = await post(on);
    const visit = { signedOnAt: '2026-05-20T21:00:00.000Z', signedOffAt: '2026-05-21T05:30:00.000Z', closedAt: null };
    const later = await changedSince('sign-on-events', cursor);
    expect(new Map(later.data.map((event) => [event.sourceEventId, event]))).toEqual(
      new Map([
        [
          on.sourceEventId,
          expect.objectContaining({ ...on, id: data.id, occurredAt: visit.signedOnAt, status: 'APPLIED', visit }),
        ],
        [
          off.sourceEventId,
          expect.objectContaining({ id: pending.data.id, status: 'APPLIED', signOnId: data.signOnId, visit }),
        ],
        [
          rejected.sourceEventId,
          expect.objectContaining({ status: 'REJECTED', rejection: 'WORKER_MISMATCH', signOnId: null, visit: null }),
        ],
      ]),
    );
    const one = await request(pathOf(`sign-on-events/${data.id}`));
    expect(one.json()).toEqual(later.data.find(({ id }) => id === data.id));
  });

  it('filters by event, worker, result and day', async () => {
    const on = aSignOn(third, { occurredAt: '2026-04-10T21:00:00Z' });
    await post(on);
    const count = async (query: string) => (await readAll('sign-on-events', query)).rows.length;
    expect(await count(`sourceEventId=${on.sourceEventId}`)).toBe(1);
    expect(await count(`workerId=${third}&startDate=2026-04-10&endDate=2026-04-10`)).toBe(1);
    expect(await count(`workerId=${third}&startDate=2026-04-11`)).toBe(0);
    const { rows } = await readAll('sign-on-events', 'status=REJECTED');
    expect([...new Set(rows.map(({ status }) => status))]).toEqual(['REJECTED']);
  });

  it('lists a sign-on again once its visit is signed off (ATT-40)', async () => {
    const on = aSignOn(worker, { occurredAt: '2026-05-20T21:00:00Z' });
    const { data } = await post(on);
    const { cursor } = await readAll('sign-on-events');
    const off = aSignOff(on, { occurredAt: '2026-05-21T05:30:00Z' });
    await post(off);
    const { data: changes } = await changedSince('sign-on-events', cursor);
    const visit = { signedOffAt: '2026-05-21T05:30:00.000Z', closedAt: null };
    expect(changes).toHaveLength(2);
    expect(changes).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id: data.id, type: 'SIGN_ON', visit: expect.objectContaining(visit) }),
        expect.objectContaining({ sourceEventId: off.sourceEventId, visit: expect.objectContaining(visit) }),
      ]),
    );
  });

  it('lists the closing by a person as a change, without who and why (ATT-40)', async () => {
    const { data } = await post(aSignOn(worker));
    const { cursor } = await readAll('sign-on-events');
    await closeVisit(context(), { visitId: data.signOnId, by: 'Kim Tran', reason: 'Left by the back door' });
    const page = await changedSince('sign-on-events', cursor);
    expect(page.data).toMatchObject([{ id: data.id, visit: { signedOffAt: null, closedAt: expect.any(String) } }]);
    expect(JSON.stringify(page)).not.toMatch(/Kim Tran|back door/);
  });

  it('shows nothing of another integrator of the same builder (ATT-39)', async () => {
    const other = await service.tokenOf('C');
    const { data } = await post(aSignOn(worker), other);
    expect((await readAll('sign-on-events')).rows.map(({ id }) => id)).not.toContain(data.id);
    expect((await request(pathOf(`sign-on-events/${data.id}`))).statusCode).toBe(404);
    expect((await read(pathOf('sign-on-events'), other)).data).toMatchObject([{ id: data.id }]);
  });
});

describe('GET …/sign-on-conflicts', () => {
  it('returns rejected events and how they were resolved, without a name (ATT-38)', async () => {
    const on = aSignOn(worker);
    const changed = { ...on, deviceId: 'gate-9' };
    await sendEvent(service.app, token, on);
    const { cursor } = await readAll('sign-on-conflicts');
    await sendEvent(service.app, token, changed);
    service.clock.advance(60_000);
    await sendEvent(service.app, token, changed);
    const open = await changedSince('sign-on-conflicts', cursor);
    const [conflict] = open.data as [{ firstReceivedAt: string; lastReceivedAt: string }];
    expect(conflict).toEqual({
      code: 'EVENT_MISMATCH',
      event: { ...changed, occurredAt: '2026-05-20T21:00:00.000Z', sourceSignOnEventId: null },
      firstReceivedAt: expect.any(String),
      lastReceivedAt: new Date(service.clock.now()).toISOString(),
      count: 2,
      resolvedAt: null,
      resolution: null,
      updatedAt: expect.any(String),
    });
    expect(Date.parse(conflict.lastReceivedAt) - Date.parse(conflict.firstReceivedAt)).toBe(60_000);
    const [{ id } = {}] = await execute('select id from sign_on_conflict where source_event_id = ?', [
      on.sourceEventId,
    ]);
    await resolveConflict(context(), {
      id: Number(id),
      resolution: 'KEEP_RECORD',
      reason: 'Twin gate',
      by: 'Kim Tran',
    });
    const { data } = await changedSince('sign-on-conflicts', cursor);
    expect(data).toMatchObject([{ count: 2, resolution: 'KEEP_RECORD', lastReceivedAt: conflict.lastReceivedAt }]);
    expect(JSON.stringify(data)).not.toMatch(/Kim Tran|Twin gate/);
    expect((await readAll('sign-on-conflicts', 'status=OPEN')).rows).not.toContainEqual(data[0]);
    expect((await readAll('sign-on-conflicts', 'status=RESOLVED')).rows).toContainEqual(data[0]);
    expect((await read(pathOf('sign-on-conflicts'), await service.tokenOf('C'))).data).toEqual([]);
  });
});

describe.each([ROSTER, OWN_EVENTS, OWN_CONFLICTS])('the items of $name', (list) => {
  /** Returns the values of built-in scalars, by field, whose JavaScript type is another one. */
  function findOtherTypes(type: GraphQLObjectType, values: object): string[] {
    return Object.values(type.getFields()).flatMap(({ name, type: fieldType }) => {
      const value = values[name as never] as unknown;
      const named = getNamedType(fieldType);
      if (value == null) return []; // An edge is undefined.
      if (isObjectType(named)) return findOtherTypes(named, value as object);
      const expected = { String: 'string', Int: 'number', Boolean: 'boolean' }[named.name];
      return expected && typeof value !== expected ? [`${type.name}.${name}`] : [];
    });
  }

  it('have values that need no conversion: PostgreSQL makes them as JSON', async () => {
    const client = service.findDemoClient('A').clientId;
    const [{ integratorId } = {}] = await execute(
      'select integrator_id as "integratorId" from oauth_client where id = ?',
      [client],
    );
    const owner = { ...(list !== ROSTER && { integratorId }), builderId, projectId };
    const { data } = await readChanges(service.databases.au1, list, owner, {}, {});
    expect(data.length).toBeGreaterThan(0);
    const type = schema.getType(list.item.type.name) as GraphQLObjectType;
    expect(data.flatMap((values) => findOtherTypes(type, values))).toEqual([]);
  });
});

describe.each(['site-access', 'sign-on-events', 'sign-on-conflicts'])('GET …/%s', (list) => {
  it('is 404 for a project of another builder, and empty for one without attendance', async () => {
    const [foreign = {}] = await execute('select id from project where builder_id <> ? limit 1', [builderId]);
    expect((await request(pathOf(list, foreign.id))).statusCode).toBe(404);
    const id = await addProject(service, builderId);
    const { data, meta } = await read(pathOf(list, id));
    expect([data, meta]).toEqual([[], { nextCursor: expect.any(String), hasMore: false }]);
    expect((await read(`${pathOf(list, id)}?cursor=${meta.nextCursor}`)).meta).toEqual(meta);
  });

  it.each(['limit=0', 'limit=101', 'cursor=abc', 'updatedSince=yesterday'])('is 400 with %s', async (query) => {
    const response = await request(`${pathOf(list)}?${query}`);
    expect([response.statusCode, response.json().errors[0].fieldName]).toEqual([400, query.split('=')[0]]);
  });

  it('is 400 with a cursor of another list or of other filters', async () => {
    const other = (await read(pathOf(list === 'site-access' ? 'sign-on-events' : 'site-access'))).meta.nextCursor;
    expect((await request(`${pathOf(list)}?cursor=${other}`)).statusCode).toBe(400);
  });

  it('answers the same in GraphQL', async () => {
    const field = list.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
    const query = `query ($builderId: BuilderId!, $projectId: ProjectId!) { ${field}(builderId: $builderId, projectId: $projectId, limit: 2) {
      data { updatedAt } meta { nextCursor hasMore } } }`;
    const { data } = await service.graphql(token, query, { builderId, projectId });
    const { data: rows, meta } = await read(`${pathOf(list)}?limit=2`);
    expect(data[field]).toEqual({ data: rows.map(({ updatedAt }) => ({ updatedAt })), meta });
  });
});
