import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SnapshotFile } from '../../entities/snapshot.entity.ts';
import { PhotoSource } from '../../schema/enums.ts';
import { SNAPSHOT_RESOURCES, SNAPSHOT_SCOPES } from '../../schema/snapshot.scalars.ts';
import { createIntegratorId } from '../../src/demo/accounts.ts';
import { erasePerson } from '../../src/domain/privacy/erase-person.ts';
import { replayErasures } from '../../src/domain/privacy/replay-erasures.ts';
import { SNAPSHOT_LISTS } from '../../src/domain/snapshots/snapshot-lists.ts';
import { endAndRemove } from '../../src/domain/snapshots/start-snapshots.ts';
import type { SnapshotWriter } from '../../src/domain/snapshots/write-snapshot.ts';
import { OPERATOR } from '../support/audit.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { addStaff } from '../support/console.ts';
import { operations } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { useLongerTimeLimits } from '../support/longer-time-limits.ts';
import { addTimesheets } from '../support/rows.ts';
import {
  clearSnapshots,
  createSnapshotWriter,
  downloadLines,
  runSnapshots,
  type SnapshotLine,
} from '../support/snapshots.ts';

const service = useService({ UPLOAD_QUOTA: '1' });
const DAY_MS = 24 * 3_600_000;
let builderId: string;
let otherBuilderId: string;
let writer: SnapshotWriter;

useLongerTimeLimits();
beforeAll(async () => {
  [builderId, otherBuilderId] = service.findDemoClient('A').builderIds as [string, string];
  writer = await createSnapshotWriter(service);
});

beforeEach(() => clearSnapshots(writer));

const sql = <T = Record<string, unknown>>(statement: string, ...values: unknown[]) =>
  service.databases.au1.fork().execute<T[]>(statement, values as never);

async function send(
  method: 'GET' | 'POST' | 'DELETE',
  url: string,
  { token = '', payload = undefined as object | undefined } = {},
) {
  const headers = { authorization: `Bearer ${token || (await service.tokenOf('A'))}` };
  return service.request({ method, url, headers, ...(payload && { payload }) });
}

const create = (payload: object = { builderId }, token = '') => send('POST', '/snapshots', { payload, token });
const createId = async (payload?: object): Promise<string> => (await create(payload)).json().id;
const get = (id: string, token = '') => send('GET', `/snapshots/${id}`, { token });

async function completeSnapshot(payload?: object) {
  const id = await createId(payload);
  await runSnapshots(writer);
  return (await get(id)).json();
}

/** Returns all records of a v1 list. */
async function readList(url: string): Promise<unknown[]> {
  const records: unknown[] = [];
  const headers = { 'x-service-builder-id': builderId };
  for (let offset = 0; ; offset += 25) {
    const page = `${url.includes('?') ? '&' : '?'}offset=${offset}`;
    const { data, meta } = (await service.get(`${url}${page}`, await service.tokenOf('A'), headers)).json();
    records.push(...data);
    if (!meta || records.length >= meta.totalCount) return records;
  }
}

const parentsOf = async (url: string): Promise<string[]> =>
  ((await readList(url)) as { id: string }[]).map(({ id }) => id);

const createUserToken = (): Promise<string> => {
  const user = service.findDemoUser(({ builderIds }) => builderIds.includes(builderId));
  const { clientId, scopes } = service.findDemoClient('A');
  return service.createToken({ clientId, scope: scopes, userId: user.id, builderId });
};

const countAudit = async (action: string, objectId: string) =>
  (await sql('select 1 from audit_entry where action = ? and object_id = ?', action, objectId)).length;

describe('the resources', () => {
  it('have the scopes of their lists, and all lists of a builder are resources (SNP-2)', async () => {
    for (const resource of SNAPSHOT_RESOURCES) {
      const operation = operations.find(({ field }) => field === SNAPSHOT_LISTS[resource].field)!;
      expect(operation.scope).toBe(SNAPSHOT_SCOPES[resource]);
    }
    const lists = operations.filter(
      ({ operationId, extension, kind }) => kind === 'Query' && operationId.startsWith('list') && !extension,
    );
    const fields = Object.values(SNAPSHOT_LISTS).map(({ field }) => field);
    // The inductions of a subcontractor are those of projects too.
    expect(
      lists
        .map(({ field }) => field)
        .filter((field) => !fields.includes(field))
        .sort(),
    ).toEqual(['builders', 'subcontractorInductions']);
  });
});

describe('POST /snapshots 202', () => {
  it('copies what the lists return, with the parents of their paths and without signed URLs (SNP-1, SNP-2)', async () => {
    await addTimesheets(
      service,
      builderId,
      Array.from({ length: 600 }, () => ({})),
    );
    const snapshot = await completeSnapshot();
    expect(snapshot).toMatchObject({
      builderId,
      status: 'READY',
      resources: SNAPSHOT_RESOURCES,
      eventCursor: expect.any(String),
    });
    expect(snapshot.progress.done).toBe(snapshot.progress.total);
    const files: Record<string, SnapshotLine[]> = {};
    for (const file of snapshot.files as SnapshotFile[]) files[file.resource] = await downloadLines(service, file);
    const builder = `/builders/${builderId}`;
    const roots: Record<string, string> = {
      projects: `${builder}/projects`,
      subcontractors: '/subcontractors?includeBuilderCompany=true',
      timesheets: '/timesheets',
      cost_codes: '/timesheets/cost-codes',
      time_types: '/timesheets/time-types',
      photo_folders: `${builder}/photo-folders`,
      photos: `${builder}/photos?${Object.values(PhotoSource)
        .map((source) => `source=${source}`)
        .join('&')}`,
      meetings: `${builder}/meetings`,
      defects: `${builder}/defects`,
    };
    for (const [resource, url] of Object.entries(roots)) {
      const expected = (await readList(url)) as Record<string, unknown>[];
      for (const record of expected) delete record.imageUrl;
      expect(files[resource]!.map(({ record }) => record)).toEqual(expected);
    }
    const children: [resource: string, type: string, parents: string, toUrl: (id: string) => string][] = [
      ...['contacts', 'insurances', 'prequalifications', 'swms_documents', 'subcontractor_projects'].map(
        (resource): [string, string, string, (id: string) => string] => [
          resource,
          'subcontractor',
          roots.subcontractors!,
          (id) => `/subcontractors/${id}/${resource.replace('_documents', '').replace('subcontractor_', '')}`,
        ],
      ),
      ['inductions', 'project', roots.projects!, (id) => `${builder}/projects/${id}/inductions`],
      ['meeting_notes', 'meeting', roots.meetings!, (id) => `${builder}/meetings/${id}/notes`],
    ];
    for (const [resource, type, parents, toUrl] of children) {
      const expected: SnapshotLine[] = [];
      for (const id of await parentsOf(parents)) {
        for (const record of (await readList(toUrl(id))) as Record<string, unknown>[]) {
          if (String(record.url).includes('/storage/')) delete record.url;
          expected.push({ parent: { type, id }, record });
        }
      }
      expect(files[resource]).toEqual(expected);
    }
    expect(files.timesheets!.length).toBeGreaterThanOrEqual(600);
  });

  it('copies records as they were at its first read, whatever changes meanwhile (SNP-8)', async () => {
    const namesOf = (records: unknown[]) => (records as { name: string }[]).map(({ name }) => name);
    const expected = namesOf(await readList(`/builders/${builderId}/projects`));
    const id = await createId({ builderId, resources: ['projects'] });
    const changeFirst: SnapshotWriter['readList'] = async (...request) => {
      await sql(`update project set name = name || ' 2' where builder_id = ?`, builderId);
      return writer.readList(...request);
    };
    await runSnapshots({ ...writer, readList: changeFirst });
    const [file] = (await get(id)).json().files as [SnapshotFile];
    expect(namesOf((await downloadLines(service, file)).map(({ record }) => record))).toEqual(expected);
  });

  it('copies what the client may read when no resources are named', async () => {
    const token = await service.tokenOf('A', ['read:projects', 'read:defects']);
    const { statusCode, ...response } = await create({ builderId }, token);
    expect(statusCode).toBe(202);
    expect(response.json()).toMatchObject({
      status: 'PENDING',
      resources: ['projects', 'subcontractor_projects', 'defects'],
      progress: { done: 0, total: 0 },
      eventCursor: null,
      files: [],
      finishedAt: null,
      expiresAt: null,
    });
  });

  it('is an audit entry (SNP-6)', async () => {
    const id = await createId({ builderId, resources: ['projects'] });
    expect(await countAudit('snapshot.created', id)).toBe(1);
  });
});

describe('POST /snapshots 400', () => {
  it('names the fields', async () => {
    const { statusCode, ...response } = await create({ builderId, resources: ['builders'] });
    expect(statusCode).toBe(400);
    expect(response.json().errors).toEqual([{ fieldName: 'resources[0]', message: expect.any(String) }]);
    expect((await create({})).json().errors).toEqual([{ fieldName: 'builderId', message: 'is required' }]);
    expect((await create({ builderId, resources: [] })).json().errors).toMatchObject([{ fieldName: 'resources' }]);
  });
});

describe('POST /snapshots 403', () => {
  it('names the missing scopes of the token (SNP-3)', async () => {
    const token = await service.tokenOf('A', ['read:projects']);
    const response = await create({ builderId, resources: ['projects', 'timesheets', 'cost_codes', 'defects'] }, token);
    expect(response.statusCode).toBe(403);
    expect(response.headers['www-authenticate']).toContain('scope="read:defects read:timesheets"');
  });

  it('is for a builder that is not connected, before the resources are checked', async () => {
    const response = await create({ builderId, resources: ['none'] }, await service.tokenOf('B'));
    expect(response.statusCode).toBe(403);
    expect(response.json().code).toBe('FORBIDDEN');
  });

  it("is for a user's token", async () => {
    expect((await create({ builderId }, await createUserToken())).json().code).toBe('FORBIDDEN');
  });
});

describe('POST /snapshots 404', () => {
  it('is for a builder that does not exist', async () => {
    expect((await create({ builderId: 'buil_anobody' })).statusCode).toBe(404);
  });
});

describe('POST /snapshots 409', () => {
  it('is SNAPSHOT_RUNNING while one of the builder is written, also for requests at once (SNP-4)', async () => {
    const responses = await Promise.all([create(), create(), create({ builderId: otherBuilderId })]);
    expect(responses.map(({ statusCode }) => statusCode).sort()).toEqual([202, 202, 409]);
    expect((await create()).json().code).toBe('SNAPSHOT_RUNNING');
  });

  it('is for a request that waits while another one is stored (SNP-4)', async () => {
    const other = await ConcurrentTransaction.open(service.databases.au1.url);
    const requests = [() => create(), () => create()];
    const responses = await other.respondWhileOpen('lock table snapshot in share mode', [], requests);
    await other.close();
    expect(responses.map(({ statusCode }) => statusCode)).toEqual([202, 409]);
  });
});

describe('POST /snapshots 429', () => {
  it('is for the eleventh of a day, with the time to wait (SNP-4)', async () => {
    for (let count = 0; count < 10; count++) {
      const id = await createId({ builderId, resources: ['projects'] });
      expect((await send('DELETE', `/snapshots/${id}`)).statusCode).toBe(200);
      service.clock.advance(60_000);
    }
    const response = await create();
    expect(response.json().code).toBe('RATE_LIMITED');
    expect(response.headers['retry-after']).toBe(String((DAY_MS - 600_000) / 1000));
    service.clock.advance(DAY_MS - 600_000);
    expect((await create()).statusCode).toBe(202);
  });

  it('is UPLOAD_QUOTA where files take the quota (SNP-5)', async () => {
    const { id } = await completeSnapshot({ builderId, resources: ['projects'] });
    await sql(`update snapshot set files = jsonb_set(files, '{0,bytes}', '1048576') where id = ?`, id);
    expect((await create()).json().code).toBe('UPLOAD_QUOTA');
  });
});

describe('GET /snapshots/{id} 200', () => {
  it('has URLs, whose issue is one audit entry while they are valid (SNP-5, SNP-6)', async () => {
    const { id, files } = await completeSnapshot({ builderId, resources: ['projects'] });
    expect(new URL(files[0].url).searchParams.get('name')).toBe('projects.ndjson.gz');
    await get(id);
    expect(await countAudit('snapshot.downloaded', id)).toBe(1);
    service.clock.advance(900_000);
    await get(id);
    expect(await countAudit('snapshot.downloaded', id)).toBe(2);
  });

  it('is EXPIRED after a day, without files (SNP-5)', async () => {
    const { id, files, expiresAt } = await completeSnapshot({ builderId, resources: ['projects'] });
    expect(Date.parse(expiresAt) - service.clock.now()).toBe(DAY_MS);
    service.clock.advance(DAY_MS - 1);
    expect((await get(id)).json()).toMatchObject({ status: 'READY' });
    service.clock.advance(1);
    expect((await get(id)).json()).toMatchObject({ status: 'EXPIRED', files: [] });
    await runSnapshots(writer);
    await expectNoFiles(files);
  });
});

const expectNoFiles = async (files: SnapshotFile[]) => {
  for await (const { key } of writer.storage.byteStore.list('snapshots/')) throw new Error(`${key} is there.`);
  for (const file of files) await expect(downloadLines(service, file)).rejects.toThrow(/^40[34]/);
};

describe('GET /snapshots/{id} 403', () => {
  it('names the missing scope of a resource (SNP-3)', async () => {
    const { id } = await completeSnapshot({ builderId, resources: ['projects', 'defects'] });
    const response = await get(id, await service.tokenOf('A', ['read:projects']));
    expect(response.statusCode).toBe(403);
    expect(response.headers['www-authenticate']).toContain('scope="read:defects"');
  });

  it('is the response to a repeated request too, of a client with fewer scopes (SNP-3)', async () => {
    const repeat = async (token: string) => {
      const headers = { authorization: `Bearer ${token}`, 'idempotency-key': 'first-copy' };
      return service.request({ method: 'POST', url: '/snapshots', headers, payload: { builderId } });
    };
    expect((await repeat(await service.tokenOf('A'))).statusCode).toBe(202);
    expect((await repeat(await service.tokenOf('A'))).statusCode).toBe(200);
    expect((await repeat(await service.tokenOf('A', ['read:projects']))).statusCode).toBe(403);
  });
});

describe('GET /snapshots 200', () => {
  it('lists those whose scopes the client has, without URLs and those that were removed', async () => {
    const { id } = await completeSnapshot({ builderId, resources: ['projects'] });
    const removed = await createId({ builderId: otherBuilderId, resources: ['projects'] });
    await send('DELETE', `/snapshots/${removed}`);
    const list = async (token = '') => (await send('GET', '/snapshots', { token })).json();
    expect(await list()).toMatchObject({
      data: [{ id, files: [{ resource: 'projects', url: null }] }],
      meta: { totalCount: 1 },
    });
    expect((await list(await service.tokenOf('A', ['read:defects']))).data).toEqual([]);
    expect((await list(await service.tokenOf('B'))).data).toEqual([]);
  });
});

describe('GET /snapshots 403', () => {
  it("is for a user's token", async () => {
    expect((await send('GET', '/snapshots', { token: await createUserToken() })).json().code).toBe('FORBIDDEN');
  });
});

describe('DELETE /snapshots/{id} 200', () => {
  it('deletes the files at once (SNP-7)', async () => {
    const { id, files } = await completeSnapshot({ builderId, resources: ['projects'] });
    expect((await send('DELETE', `/snapshots/${id}`)).json()).toMatchObject({ id, status: 'EXPIRED', files: [] });
    await expectNoFiles(files);
    expect((await get(id)).statusCode).toBe(404);
    expect((await send('DELETE', `/snapshots/${id}`)).statusCode).toBe(404);
    expect(await countAudit('snapshot.deleted', id)).toBe(1);
  });

  it('cancels one that is written', async () => {
    const id = await createId();
    let pages = 0;
    const readList: SnapshotWriter['readList'] = async (...request) => {
      if (++pages === 2) await send('DELETE', `/snapshots/${id}`);
      return writer.readList(...request);
    };
    await runSnapshots({ ...writer, readList });
    expect(await sql('select status, has_files from snapshot')).toEqual([{ status: 'FAILED', has_files: false }]);
    await expectNoFiles([]);
  });
});

describe('access that ends', () => {
  const setConnection = (status: string) =>
    sql(
      'update connection set status = ? where integrator_id = ? and builder_id = ?',
      status,
      createIntegratorId('A'),
      builderId,
    );

  it.each([
    ['a revoked connection', () => setConnection('REVOKED'), () => setConnection('ACTIVE')],
    [
      'a scope that the connection loses',
      () => sql(`update connection set scopes = array_remove(scopes, 'read:projects')`),
      () => sql(`update connection set scopes = array_append(scopes, 'read:projects')`),
    ],
    [
      'a disabled client',
      () => sql('update oauth_client set disabled_at = now() where id = ?', service.findDemoClient('A').clientId),
      () => sql('update oauth_client set disabled_at = null'),
    ],
    [
      'a client that loses its grant',
      () =>
        sql(
          `update oauth_client set grants = array_remove(grants, 'client_credentials') where id = ?`,
          service.findDemoClient('A').clientId,
        ),
      () =>
        sql(
          `update oauth_client set grants = array_append(grants, 'client_credentials') where id = ?`,
          service.findDemoClient('A').clientId,
        ),
    ],
  ])('deletes the files: %s (SNP-3, SNP-7)', async (_, end, restore) => {
    const { id, files } = await completeSnapshot({ builderId, resources: ['projects'] });
    await end();
    try {
      await runSnapshots(writer);
      await expectNoFiles(files);
    } finally {
      await restore();
      service.clock.advance(1_000);
    }
    expect((await get(id)).json()).toMatchObject({ status: 'EXPIRED', files: [] });
  });

  it('deletes the files after the erasure of a person, also where it is repeated (SNP-7)', async () => {
    const context = { ...writer, clock: service.clock, source: OPERATOR };
    const [worker] = await sql<{ id: string; name: string }>(
      'select id, full_name as name from worker where builder_id = ? order by id limit 1',
      builderId,
    );
    const copy = () => completeSnapshot({ builderId, resources: ['inductions'] });
    const before = await copy();
    await erasePerson(context, [worker!.id]);
    await endAndRemove(writer);
    await expectNoFiles(before.files);
    // As an import of an older export does, until the erasure is repeated.
    await sql('update worker set full_name = ? where id = ?', worker!.name, worker!.id);
    const between = await copy();
    service.clock.advance(1_000);
    await replayErasures(context);
    await endAndRemove(writer);
    await expectNoFiles(between.files);
  });

  it('deletes the files of a builder whose records name the person since the erasure, when it is repeated (SNP-7)', async () => {
    await sql(
      `insert into app_user (id, name, email, created_at, updated_at)
        values ('user_mila', 'Mila Harker', 'mila@harker.example', now(), now())`,
    );
    const context = { ...writer, clock: service.clock, source: OPERATOR };
    await erasePerson(context, ['user_mila']);
    // As an import does that names the person in the records of another builder, until the erasure is repeated.
    await sql(`update app_user set name = 'Mila Harker' where id = 'user_mila'`);
    const assignees = JSON.stringify([{ type: 'USER', id: 'user_mila', name: 'Mila Harker' }]);
    await sql('update defect set assignees = ?::jsonb where builder_id = ?', assignees, builderId);
    const { files } = await completeSnapshot({ builderId, resources: ['defects'] });
    expect(JSON.stringify(await downloadLines(service, files[0]!))).toContain('Mila Harker');
    service.clock.advance(1_000);
    await replayErasures(context);
    await endAndRemove(writer);
    await expectNoFiles(files);
  });

  it('deletes the files of every builder after the erasure of a member of staff, who may be in any record (SNP-7)', async () => {
    await addStaff(service, 'OPERATOR', { id: 'user_zelda', name: 'Zelda Quimby' });
    const assignees = JSON.stringify([{ type: 'USER', id: 'user_zelda', name: 'Zelda Quimby' }]);
    await sql('update defect set assignees = ?::jsonb where builder_id = ?', assignees, builderId);
    const { files } = await completeSnapshot({ builderId, resources: ['defects'] });
    expect(JSON.stringify(await downloadLines(service, files[0]!))).toContain('Zelda Quimby');
    await erasePerson({ ...writer, clock: service.clock, source: OPERATOR }, ['user_zelda']);
    service.clock.advance(1_000);
    await endAndRemove(writer);
    await expectNoFiles(files);
  });

  it('ends a snapshot that is written (SNP-3)', async () => {
    await createId();
    let pages = 0;
    const readList: SnapshotWriter['readList'] = async (...request) => {
      if (++pages === 2) await setConnection('REVOKED');
      return writer.readList(...request);
    };
    try {
      await runSnapshots({ ...writer, readList });
      await runSnapshots(writer);
    } finally {
      await setConnection('ACTIVE');
      service.clock.advance(1_000);
    }
    expect(await sql('select status, has_files from snapshot')).toEqual([{ status: 'FAILED', has_files: false }]);
    await expectNoFiles([]);
  });
});

describe('the quota', () => {
  it('ends a snapshot whose files exceed it (SNP-5)', async () => {
    const id = await createId();
    await runSnapshots({ ...writer, uploadQuota: 100 });
    expect((await get(id)).json()).toMatchObject({ status: 'FAILED', files: [] });
    await runSnapshots(writer);
    await expectNoFiles([]);
  });
});
