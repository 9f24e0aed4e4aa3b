import { beforeAll, expect, it } from 'vitest';
import { Membership } from '../../../entities/membership.entity.ts';
import { User } from '../../../entities/user.entity.ts';
import { loadConfig } from '../../../src/config.ts';
import { executeBuilderErasure, scheduleBuilderErasure } from '../../../src/domain/privacy/erase-builder.ts';
import { erasePerson } from '../../../src/domain/privacy/erase-person.ts';
import { createManualOperations } from '../../../src/rest/openapi/manual-operations.ts';
import { openStorages, type Storage } from '../../../src/storage/storage.ts';
import { page, request } from '../../photo-reports/documents.ts';
import { timestampsAt } from '../../support/accounts.ts';
import { operations } from '../../support/definition.ts';
import { useService } from '../../support/harness.ts';
import { OperationCalls } from '../../support/operation-calls.ts';
import { createSamples } from '../../support/samples.ts';
import { contextOf, findTablesWith } from './privacy-fixture.ts';

const AUTHOR = { externalId: 'ada-okafor-77', name: 'Ada Okafor', email: 'ada@okafor.example' };

const service = useService();
let storage: Storage;
let builderId: string;

beforeAll(async () => {
  const config = loadConfig({ DATA_DIR: service.dataDir });
  storage = openStorages(config, { secrets: [''], clock: service.clock }).au1;
  [builderId] = service.findDemoClient('A').builderIds as [string];
  const em = service.databases.au1.fork();
  await em.insert(User, {
    id: 'user_ada',
    name: AUTHOR.name,
    email: AUTHOR.email,
    passwordHash: 'x',
    ...timestampsAt(1),
  });
  await em.insert(Membership, { userId: 'user_ada', builderId, role: 'ADMIN', ...timestampsAt(2) });
});

it('erasing a person ends their tokens within a second, and changes reports that name them (PRV-3, PRV-4, PRV-10)', async () => {
  const client = service.findDemoClient('A');
  const token = await service.tokenOf('A');
  const own = await service.createToken({
    ...{ clientId: client.clientId, scope: client.scopes, userId: 'user_ada', builderId },
  });
  const sync = async (sourceRevision: number) => {
    const body = request({
      ...{ sourceApp: 'privacy', sourceExternalId: 'walk-1', sourceRevision, sourceAuthor: AUTHOR, page: page() },
    });
    return service.request({
      ...{ method: 'POST', url: `/builders/${builderId}/photo-reports/sync`, payload: body },
      headers: { authorization: `Bearer ${token}` },
    });
  };
  expect((await sync(1)).statusCode).toBe(200);
  expect((await service.get('/me', own)).statusCode).toBe(200);

  const { pseudonym } = await erasePerson(contextOf(service.databases.au1, storage), ['user_ada']);

  service.clock.advance(1_000);
  expect((await service.get('/me', own)).statusCode).toBe(401);
  for (const text of [AUTHOR.name, AUTHOR.email, AUTHOR.externalId]) {
    expect(await findTablesWith(service.databases.au1, text), text).toEqual([]);
  }
  const query = `query ($id: BuilderId!) { photoReports(builderId: $id) { data { sourceExternalId sourceAuthor { name email } } } }`;
  const { data } = await service.graphql(token, query, { id: builderId });
  expect(data.photoReports.data).toContainEqual({
    sourceExternalId: 'walk-1',
    sourceAuthor: { name: pseudonym, email: expect.stringMatching(/@erased\.invalid$/) },
  });
  const repeated = await sync(1);
  expect([repeated.statusCode, repeated.json().code]).toEqual([409, 'REVISION_CONFLICT']);
  expect((await sync(2)).statusCode).toBe(200);
});

it('answers requests for a builder that is erased since they were authorised with 403 or 404 (PRV-9, ERR-13)', async () => {
  const token = await service.tokenOf('A');
  const { ProjectId: _, ...samples } = await createSamples(service.databases.au1, builderId);
  const calls = new OperationCalls(service, { ...samples, ProjectId: null as never });
  expect((await service.get('/me', token)).statusCode).toBe(200);
  // The clock stands still, so that the caller is not looked up again.
  const context = contextOf(service.databases.au1, storage);
  const { erasure } = await scheduleBuilderErasure(context, builderId, 0);
  expect(await executeBuilderErasure(context, erasure)).toBe(true);
  const results: Record<string, number> = {};
  const record = async (name: string, call: Promise<{ status: number }>) => {
    results[name] = (await call).status;
  };
  for (const operation of operations.filter(({ path }) => !path.includes('{projectId}')))
    await record(`${operation.method} ${operation.path}`, calls.rest(operation, token));
  for (const route of createManualOperations('').filter(({ access }) => access !== 'public'))
    await record(route.path, calls.upload(route, token));
  expect(Object.entries(results).filter(([, status]) => status >= 500)).toEqual([]);
  expect(results).toMatchObject({
    ...{ 'POST /builders/{builderId}/photos': 404, 'POST /builders/{builderId}/photo-folders': 404 },
    ...{ 'POST /snapshots': 404, 'POST /builders/{builderId}/attachments/presign': 404 },
  });
});
