import { randomBytes } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { newId } from '../../../schema/ids.ts';
import { recordAudit } from '../../../src/domain/audit/record-audit.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { useService } from '../../support/harness.ts';
import { addWorkerOnSite } from '../../support/rows.ts';

const service = useService();
let viewer: ConsoleBrowser;
let operator: ConsoleBrowser;
let builderId: string;

beforeAll(async () => {
  viewer = await signInToConsole(service.app, await addStaff(service, 'VIEWER'));
  operator = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: 'user_kim' }));
  builderId = service.findDemoClient('A').builderIds[0]!;
});

const reads = () =>
  service.databases.au1.fork().find(AuditEntry, { action: 'person.read' }, { orderBy: { id: 'asc' } });
const timesheets = (fields: string, limit = 5) =>
  `{ timesheets(builderId: "${builderId}", limit: ${limit}) { data { ${fields} } } }`;

describe('personal data that staff read', () => {
  it('is recorded for each person before the response, and not again within the hour (CON-5)', async () => {
    const query = timesheets('id hours profile { fullName }');
    const { data, errors } = await operator.query(query);
    expect(errors).toBeUndefined();
    const people = new Set(
      (await sql('select profile_id from timesheet')).map((row) => (row as { profile_id: string }).profile_id),
    );
    const entries = await reads();
    expect(entries.length).toBe(
      new Set(data.timesheets.data.map((row: { profile: { fullName: string } }) => row.profile.fullName)).size,
    );
    for (const entry of entries) {
      expect(people).toContain(entry.personId);
      expect(entry).toMatchObject({
        ...{ actorType: 'STAFF', actorId: 'user_kim', builderId, valuesAfter: { categories: ['Timesheet'] } },
        origin: { application: 'console' },
      });
    }
    await operator.query(query);
    expect(await reads()).toHaveLength(entries.length);
    service.clock.advance(3_600_000);
    await operator.query(query);
    expect(await reads()).toHaveLength(2 * entries.length);
  });

  it('is not what a viewer may read, who reads the same records without people (CON-5)', async () => {
    const before = (await reads()).length;
    expect((await viewer.query(timesheets('hours profile { fullName }'))).errors![0]!.message).toBe(
      'The role VIEWER does not allow person.read.',
    );
    // Also where there is nobody.
    const none = `{ timesheets(builderId: "${builderId}", offset: 100000) { data { profile { fullName } } } }`;
    expect((await viewer.query(none)).errors![0]!.extensions.code).toBe('FORBIDDEN');
    expect((await viewer.query(timesheets('hours status'))).errors).toBeUndefined();
    expect((await viewer.query('{ people { data { name } } }')).errors![0]!.extensions.code).toBe('FORBIDDEN');
    const agreements = '{ clients { data { id pilotAgreement } } }';
    expect((await viewer.query(agreements)).errors![0]!.extensions.code).toBe('FORBIDDEN');
    expect((await operator.query(agreements)).errors).toBeUndefined();
    expect(await reads()).toHaveLength(before);
  });

  it.each([
    ['users', '{ people(staff: false, limit: 3) { data { name } } }', 'User'],
    ['workers of inductions', 'INDUCTIONS', 'Induction'],
    [
      'visits of a builder',
      '{ builder(builderId: "BUILDER") { openVisits { data { signedOnAt worker { fullName } } } } }',
      'SignOnVisit',
    ],
    [
      'people whom defects are assigned to',
      '{ defects(builderId: "BUILDER", limit: 25) { data { assignees { ... on DefectUser { name } } } } }',
      'Defect',
    ],
    [
      'contacts',
      '{ subcontractors(builderId: "BUILDER", limit: 3) { data { contacts { data { email } } } } }',
      'Contact',
    ],
  ])('is recorded of %s (CON-5)', async (_, template, category) => {
    const [project] = await sql('select project_id as id from induction where builder_id = ? limit 1', [builderId]);
    const inductions = `{ projectInductions(builderId: "BUILDER", projectId: "${(project as { id: string }).id}", limit: 3) { data { worker { fullName } } } }`;
    const query = (template === 'INDUCTIONS' ? inductions : template).replaceAll('BUILDER', builderId);
    const before = new Set((await reads()).map(({ id }) => id));
    const { errors } = await operator.query(query);
    expect(errors).toBeUndefined();
    const added = (await reads()).filter(({ id }) => !before.has(id));
    expect(added.length).toBeGreaterThan(0);
    expect(added.every(({ valuesAfter }) => (valuesAfter!.categories as string[]).includes(category))).toBe(true);
  });

  it('is recorded of one induction, which a viewer may not read with its worker or answers (CON-5)', async () => {
    const [found] = await sql('select id, project_id from induction where builder_id = ? limit 1', [builderId]);
    const { id, project_id: projectId } = found as { id: string; project_id: string };
    const induction = (fields: string) =>
      `{ induction(builderId: "${builderId}", projectId: "${projectId}", identifierOrId: "${id}") { ${fields} } }`;
    for (const fields of ['worker { fullName }', 'data { name value }']) {
      expect((await viewer.query(induction(fields))).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
      service.clock.advance(3_600_000);
      const before = (await reads()).length;
      expect((await operator.query(induction(fields))).errors).toBeUndefined();
      expect(await reads()).toHaveLength(before + 1);
    }
    expect((await viewer.query(induction('status'))).errors).toBeUndefined();
  });

  it('is not what a viewer may read of a photo report, whose author may have no account (CON-5)', async () => {
    const report = (fields: string) => `{ photoReports(builderId: "${builderId}") { data { ${fields} } } }`;
    for (const fields of ['request', 'sourceAuthor { name email }']) {
      expect((await viewer.query(report(fields))).errors?.[0]?.extensions.code, fields).toBe('FORBIDDEN');
    }
    expect((await viewer.query(report('title'))).errors).toBeUndefined();
  });

  it('is recorded of the request and the author of a photo report, with the report (CON-5)', async () => {
    await sql('update photo_report set mapped_admin_user_id = null');
    for (const [fields, category] of [
      ['request', 'PhotoReport.request'],
      ['sourceAuthor { name }', 'PhotoReport'],
    ]) {
      const before = new Set((await reads()).map(({ id }) => id));
      const { data, errors } = await operator.query(
        `{ photoReports(builderId: "${builderId}", limit: 2) { data { id ${fields} } } }`,
      );
      expect(errors).toBeUndefined();
      const added = (await reads()).filter(({ id }) => !before.has(id));
      const ids = data.photoReports.data.map(({ id }: { id: string }) => id);
      expect(ids.length).toBeGreaterThan(0);
      expect(added.map(({ objectId }) => objectId).sort()).toEqual(ids.sort());
      for (const entry of added) {
        expect(entry).toMatchObject({ personId: null, builderId, valuesAfter: { categories: [category] } });
      }
    }
  });

  it('is recorded of the people whom the audit log names (CON-5)', async () => {
    const alex = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: 'user_alex' }));
    const own = async () => (await reads()).filter(({ actorId }) => actorId === 'user_alex');
    const { data, errors } = await alex.query(
      '{ audit(limit: 200, action: "person") { data { actorId names personId } } }',
    );
    expect(errors).toBeUndefined();
    const named = data.audit.data.flatMap((entry: { actorId: string; personId: string | null }) => [
      entry.actorId,
      entry.personId,
    ]);
    const people = new Set(named.filter((id: string | null) => id !== null && id !== 'user_alex'));
    expect(people).toContain('user_kim');
    const entries = await own();
    expect(new Set(entries.map(({ personId }) => personId))).toEqual(people);
    expect(entries[0]!.valuesAfter).toEqual({ categories: ['AuditEntry'] });
    await alex.query('{ audit(limit: 200, action: "person", actorId: "user_kim") { data { names } } }');
    expect(await own()).toHaveLength(entries.length);
  });

  it('is recorded of the worker where a visit or a conflict shows the texts of an earlier change (CON-5)', async () => {
    const { workerId, projectId } = await addWorkerOnSite(service, builderId);
    const visitId = 'signon_conflict1';
    const at = new Date(service.clock.now()).toISOString();
    await sql(
      `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, closed_at, closed_by,
          closing_reason) values (?, ?, ?, ?, ?, ?, ?, ?, 'Robin', 'Taken to hospital')`,
      [visitId, at, at, builderId, projectId, workerId, at, at],
    );
    const conflict = `mutation { closeVisit(visitId: "${visitId}", reason: "Left", expectedUpdatedAt: "${at}") { id } }`;
    expect((await operator.query(conflict)).errors![0]!.message).toMatch(/Taken to hospital/);
    const recorded = async () => (await reads()).filter(({ personId }) => personId === workerId);
    expect(await recorded()).toMatchObject([{ builderId, valuesAfter: { categories: ['SignOnVisit'] } }]);
    for (const [index, field] of ['closedBy', 'closingReason'].entries()) {
      service.clock.advance(3_600_000);
      const visits = `{ project(builderId: "${builderId}", projectId: "${projectId}") { attendance(date: "${at.slice(0, 10)}") { data { ${field} } } } }`;
      expect(JSON.stringify((await operator.query(visits)).data)).toMatch(/Robin|hospital/);
      expect(await recorded(), field).toHaveLength(index + 2);
    }
  });

  it('is recorded of the user whom the message of a conflict names (CON-5)', async () => {
    const { id } = service.findDemoUser(({ regionId }) => regionId === 'au1');
    const at = new Date(service.clock.now()).toISOString();
    await sql('update app_user set updated_at = ? where id = ?', [at, id]);
    const userChange = { actor: { type: 'USER', id }, origin: {}, at, action: 'password.set', objectId: id } as const;
    await service.databases.au1.transaction((em) => recordAudit(em, userChange));
    const stale = 'expectedUpdatedAt: "2020-01-01T00:00:00Z"';
    const { errors } = await operator.query(`mutation { disableUser(id: "${id}", ${stale}) { id } }`);
    expect(errors![0]!.message).toMatch(/changed it at .*A password was set/);
    const recorded = (await reads()).filter(({ personId }) => personId === id);
    expect(recorded).toMatchObject([{ actorId: 'user_kim', valuesAfter: { categories: ['User'] } }]);
  });

  it('is recorded of a person in each builder within the hour (CON-5)', async () => {
    const { id } = service.findDemoUser(({ regionId }) => regionId === 'au1');
    await sql('update photo_report set mapped_admin_user_id = ?', [id]);
    const reports = (await sql('select distinct builder_id from photo_report')) as { builder_id: string }[];
    expect(reports.length).toBeGreaterThan(1);
    for (const { builder_id } of reports)
      await operator.query(`{ photoReports(builderId: "${builder_id}") { data { sourceAuthor { name } } } }`);
    const recorded = (await reads()).filter(({ personId, builderId }) => personId === id && builderId !== null);
    expect(recorded.map((entry) => entry.builderId).sort()).toEqual(reports.map((row) => row.builder_id).sort());
  });

  it('is recorded of the lists of a person, whatever is selected of their records (CON-5)', async () => {
    const sent = async (query: string) => {
      // By a reader of whom nothing was recorded within the hour.
      const reader = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: newId('user', 0) }));
      const before = new Set((await reads()).map(({ id }) => id));
      expect((await reader.query(query)).errors).toBeUndefined();
      const added = (await reads()).filter(({ id }) => !before.has(id));
      return added.map(({ personId, ...entry }) => [personId, entry.builderId, entry.valuesAfter]);
    };
    const [row] = await sql('select worker_id from induction where builder_id = ? limit 1', [builderId]);
    const { worker_id: workerId } = row as { worker_id: string };
    const at = new Date(service.clock.now()).toISOString();
    await sql(
      `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at)
        select 'signon_list1', ?, ?, builder_id, project_id, worker_id, ? from induction where worker_id = ? limit 1`,
      [at, at, at, workerId],
    );
    const lists = 'visits { data { signedOnAt } } inductions { data { status } }';
    const worker = `{ findWorkers(builderId: "${builderId}", id: "${workerId}") { data { ${lists} } } }`;
    expect(await sent(worker)).toEqual([[workerId, builderId, { categories: ['Induction', 'SignOnVisit', 'Worker'] }]]);
    const { id, builderIds } = service.findDemoUser(({ regionId }) => regionId === 'au1');
    // Also the total behind the last page, and records of the person's records.
    const behind = 'visits(offset: 1000) { meta { totalCount } }';
    expect(await sent(worker.replace(lists, behind))).toEqual([
      [workerId, builderId, { categories: ['SignOnVisit', 'Worker'] }],
    ]);
    await sql(
      `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id, type,
          occurred_at, status, visit_id)
        select 'saevt_list1', ?, ?, (select min(id) from integrator), builder_id, project_id, worker_id, 'list-1', 'SIGN_ON', ?, 'APPLIED', id
          from sign_on_visit where id = 'signon_list1'`,
      [at, at, at],
    );
    expect(await sent(worker.replace(lists, 'visits { data { events { data { type } } } }'))).toEqual([
      [workerId, builderId, { categories: ['SignOnEvent', 'SignOnVisit', 'Worker'] }],
    ]);
    const members = await sent(`{ people(builderId: "${builderId}") { data { id } } }`);
    expect(members).toContainEqual([expect.any(String), builderId, { categories: ['Membership'] }]);
    const memberships = await sent(`{ person(user: "${id}") { memberships { role } } }`);
    expect(memberships).toContainEqual([id, null, { categories: ['User'] }]);
    expect(memberships).toContainEqual([id, builderIds[0], { categories: ['Membership'] }]);
  });

  it('is recorded with the defect where an assignee is known by an address, or by an id of another system (CON-5)', async () => {
    const [defect] = await sql('select id from defect where builder_id = ? limit 1', [builderId]);
    const { id } = defect as { id: string };
    const ids = ['robin@people.example', 'user_kim', randomBytes(2_500).toString('hex')];
    const assignees = ids.map((assignee) => ({ type: 'USER', id: assignee, name: 'Robin' }));
    await sql('update defect set assignees = ?::jsonb where id = ?', [JSON.stringify(assignees), id]);
    service.clock.advance(3_600_000);
    const before = (await reads()).length;
    const query = `{ defect(builderId: "${builderId}", defectId: "${id}") { assignees { ... on DefectUser { name } } } }`;
    expect((await operator.query(query)).errors).toBeUndefined();
    const entries = (await reads()).slice(before).map(({ objectId, personId }) => [objectId, personId]);
    expect(entries.sort()).toEqual(
      [
        [id, null],
        ['user_kim', 'user_kim'],
      ].sort(),
    );
  });

  it('is recorded of the workers of a refused event and of the recorded one (CON-5)', async () => {
    const { workerId, projectId } = await addWorkerOnSite(service, builderId);
    const { workerId: recorded } = await addWorkerOnSite(service, builderId);
    const at = new Date(service.clock.now()).toISOString();
    const [conflict] = await sql(
      `with integrator as (select id from integrator order by id limit 1),
        event as (insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id,
          type, occurred_at, status) select 'saevt_other0001', ?, ?, id, ?, ?, ?, 'gate-1', 'SIGN_ON', ?, 'APPLIED' from integrator)
        insert into sign_on_conflict (created_at, updated_at, integrator_id, builder_id, project_id, worker_id, digest, code,
          source_event_id, type, occurred_at) select ?, ?, id, ?, ?, ?, 'digest', 'EVENT_MISMATCH', 'gate-1', 'SIGN_ON', ? from integrator
        returning id`,
      [at, at, builderId, projectId, recorded, at, at, at, builderId, projectId, workerId, at],
    );
    const { errors } = await operator.query(
      `{ conflict(id: "${(conflict as { id: string }).id}") { worker { fullName } recordedEvent { id } } }`,
    );
    expect(errors).toBeUndefined();
    const people = (await reads()).filter(({ valuesAfter }) =>
      (valuesAfter!.categories as string[]).includes('SignOnConflict'),
    );
    expect(people.map(({ personId }) => personId).sort()).toEqual([workerId, recorded].sort());
    const read = people.find(({ personId }) => personId === recorded)!;
    expect(read.valuesAfter).toEqual({ categories: ['SignOnConflict', 'SignOnEvent'] });
  });

  it('is in no message about a user of whom only the id was given, which is a read of the user (CON-5)', async () => {
    const { id, email } = service.findDemoUser(({ regionId }) => regionId === 'au1');
    await addStaff(service, 'VIEWER', { id: 'user_other' });
    const at = new Date(service.clock.now()).toISOString();
    for (const mutation of [
      `inviteUser(id: "${id}") { url }`,
      `updateUser(id: "${id}", staffRole: VIEWER, expectedUpdatedAt: "${at}") { id }`,
      `addMembership(userId: "${id}", builderId: "${builderId}") { id }`,
      `addMembership(userId: "user_other", builderId: "${builderId}") { id }`,
      'removeMembership(userId: "user_other", builderId: "buil_b1") { id }',
      `removeMembership(userId: "user_other", builderId: "${builderId}") { id }`,
      `disableUser(id: "${email}", expectedUpdatedAt: "2020-01-01T00:00:00Z") { id }`,
      'enableUser(id: "user_other", expectedUpdatedAt: "2020-01-01T00:00:00Z") { id }',
      `createUser(email: "${email}", name: "New") { url }`,
      `updateUser(id: "user_other", email: "${email}", expectedUpdatedAt: "${at}") { id }`,
    ]) {
      // Of each reader, who is not recorded again within the hour.
      const staffId = newId('user', 0);
      const reader = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: staffId }));
      const { errors } = await reader.query(`mutation { ${mutation} }`);
      const read = (await reads()).filter(({ actorId }) => actorId === staffId).map(({ personId }) => personId);
      const concerned = ['user_other', id].filter(
        (user) => mutation.includes(user) || (user === id && mutation.includes(email)),
      );
      expect(read.sort(), mutation).toEqual(mutation.includes('buil_b1') ? [] : concerned.sort());
      if (mutation.includes(email)) continue;
      expect(JSON.stringify(errors), mutation).not.toMatch(new RegExp(`${email}|@operator.example|undefined`));
    }
    await sql('update app_user set disabled_at = now() where id = ?', [id]);
    const { errors } = await operator.query(`mutation { resetPassword(id: "${id}") { url } }`);
    await sql('update app_user set disabled_at = null where id = ?', [id]);
    expect(errors![0]!.message).toBe(`user: ${id} is disabled`);
  });

  it.each([
    ['small', 'profile { fullName }'],
    ['large', `profile { fullName } ${Array.from({ length: 200 }, (_, at) => `n${at}: notes`).join(' ')}`],
  ])('is not in a %s response when it cannot be recorded (CON-5)', async (_, fields) => {
    service.clock.advance(3_600_000);
    await sql(`update timesheet set notes = repeat('n', 1000)`);
    await sql('alter table audit_entry rename to audit_entry_away');
    const { data, errors } = await operator.query(timesheets(fields, 25));
    await sql('alter table audit_entry_away rename to audit_entry');
    expect(data).toBeUndefined();
    expect(errors![0]!.extensions.http.status).toBe(500);
  });
});

const sql = (text: string, values: unknown[] = []) => service.databases.au1.fork().execute(text, values);
