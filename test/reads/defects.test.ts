import type { EntityClass } from '@mikro-orm/core';
import { beforeAll, describe, expect, test } from 'vitest';
import { Defect } from '../../entities/defect.entity.ts';
import { Location } from '../../entities/location.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { type Accounts, addAccounts, instantAt, timestampsAt } from '../support/accounts.ts';
import { useService } from '../support/harness.ts';
import { nullFieldsOf } from '../support/null-fields.ts';

const service = useService();
let accounts: Accounts;
let token: string;

const EMPTY = { priority: 'LOW' as const, status: 'OPEN' as const, assignees: [], photoIds: [] };

const assignees = [
  { type: 'USER', id: 'user_a1', name: 'Ann' },
  { type: 'COMPANY', id: 'sub_a1', name: 'Roof Pty Ltd' },
  { type: 'TAG', id: 'tag_a1', name: 'Electrical' },
] as const;

beforeAll(async () => {
  accounts = await addAccounts(service);
  token = await service.createToken({
    clientId: accounts.clientId,
    scope: ['read:builders', 'read:projects', 'read:defects'],
  });
  const { builderId, projectId, otherBuilderId, otherProjectId } = accounts;
  const em = service.databases.au1.fork();
  // `statuses` is no column of its own, as the type would have it.
  await em.insert(Subcontractor as EntityClass<object>, {
    id: 'sub_a1',
    builderId,
    name: 'Roof Pty Ltd (Holdings)',
    isBuilder: false,
    address: { street: '1 Hill St', suburb: 'Hill', state: 'NSW', postcode: '2000', country: 'Australia' },
    tags: [],
    integrations: [],
    ...timestampsAt(0),
  });
  await em.insert(Location, { id: 'loc_a1', builderId, projectId, name: 'Level 1' });
  const plain = { ...EMPTY, builderId, projectId };
  await em.insertMany(Defect, [
    {
      ...plain,
      id: 'defect_a2',
      identifier: 2,
      title: 'Loose rail',
      status: 'CLOSED',
      closedAt: instantAt(30),
      ...timestampsAt(2),
    },
    {
      ...plain,
      id: 'defect_a1',
      identifier: 1,
      title: 'Leak',
      description: 'Under the sink',
      priority: 'HIGH',
      dueDate: instantAt(40),
      locationId: 'loc_a1',
      assignees: [...assignees],
      photoIds: ['att_a1', 'att_a2'],
      ...timestampsAt(1),
    },
    {
      ...plain,
      id: 'defect_b1',
      identifier: 1,
      title: 'Dent',
      builderId: otherBuilderId,
      projectId: otherProjectId,
      ...timestampsAt(3),
    },
  ]);
});

const list = (query = '') => service.get(`/builders/${accounts.builderId}/defects${query}`, token);
const idsOf = (response: { json(): { data: { id: string }[] } }) => response.json().data.map(({ id }) => id);

describe('200', () => {
  test('a defect has the fields of the contract, no more (RED-26)', async () => {
    const response = await service.get(`/builders/${accounts.builderId}/defects/defect_a1`, token);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      ...nullFieldsOf('Defect'),
      id: 'defect_a1',
      identifier: 1,
      builderId: accounts.builderId,
      projectId: accounts.projectId,
      title: 'Leak',
      description: 'Under the sink',
      status: 'OPEN',
      priority: 'HIGH',
      dueDate: instantAt(40),
      location: { id: 'loc_a1', name: 'Level 1' },
      assignees,
      photoIds: ['att_a1', 'att_a2'],
      createdAt: instantAt(1),
      updatedAt: instantAt(2),
    });
  });

  test('what a defect does not have is null, and its lists are empty', async () => {
    const response = await service.get(`/builders/${accounts.builderId}/defects/defect_a2`, token);
    expect(response.json()).toMatchObject({
      description: null,
      dueDate: null,
      location: null,
      assignees: [],
      photoIds: [],
      closedAt: instantAt(30),
    });
  });

  test('the list holds the same objects, of this builder alone, oldest first, read in one statement', async () => {
    const one = await service.get(`/builders/${accounts.builderId}/defects/defect_a1`, token);
    const response = await list();
    expect(response.statusCode).toBe(200);
    expect(response.json().meta).toEqual({ totalCount: 2, totalPages: 1, offset: 0, limit: 25 });
    expect(idsOf(response)).toEqual(['defect_a1', 'defect_a2']);
    expect(response.json().data[0]).toEqual(one.json());
    expect(await service.countStatements('au1', list)).toBe(1);
  });

  test('the list is filtered by project and status, and paged (RED-27)', async () => {
    expect(idsOf(await list('?status=CLOSED'))).toEqual(['defect_a2']);
    expect(idsOf(await list(`?projectId=${accounts.projectId}&status=OPEN`))).toEqual(['defect_a1']);
    expect(idsOf(await list('?offset=1&limit=1'))).toEqual(['defect_a2']);
    expect((await list('?offset=9')).json()).toMatchObject({ data: [], meta: { totalCount: 2 } });
  });

  test("a project that is not the builder's gives an empty list", async () => {
    const response = await list(`?projectId=${accounts.otherProjectId}`);
    expect(response.json()).toMatchObject({ data: [], meta: { totalCount: 0, totalPages: 0 } });
  });
});

describe('400', () => {
  test.each(['status=DONE', 'status=OPEN&status=CLOSED', 'projectId=sub_a1', 'limit=26', 'offset=-1'])(
    '?%s names its field',
    async (query) => {
      const response = await list(`?${query}`);
      expect(response.statusCode).toBe(400);
      expect(response.json().errors.map((error: { fieldName: string }) => error.fieldName)).toEqual([
        query.split('=')[0],
      ]);
    },
  );
});

describe('403', () => {
  test('without read:defects', async () => {
    const other = await service.createToken({ clientId: accounts.clientId, scope: 'read:meetings' });
    for (const path of ['defects', 'defects/defect_a1']) {
      const response = await service.get(`/builders/${accounts.builderId}/${path}`, other);
      expect(response.statusCode).toBe(403);
      expect(response.json().code).toBe('INSUFFICIENT_SCOPE');
    }
  });

  test('for a builder that is not connected', async () => {
    const response = await service.get(`/builders/${accounts.unconnectedBuilderId}/defects`, token);
    expect(response.statusCode).toBe(403);
    expect(response.json().code).toBe('FORBIDDEN');
  });
});

describe('404', () => {
  test.each(['defect_nosuch', 'defect_b1', 'nonsense'])('for the defect %s', async (id) => {
    const response = await service.get(`/builders/${accounts.builderId}/defects/${id}`, token);
    expect(response.statusCode).toBe(404);
    expect(response.json().code).toBe('NOT_FOUND');
  });

  test('for a builder that does not exist', async () => {
    expect((await service.get('/builders/buil_nosuch/defects', token)).statusCode).toBe(404);
  });
});

describe('GraphQL', () => {
  test('has the type of each assignee (RED-29)', async () => {
    const { data } = await service.graphql(
      token,
      `query ($id: BuilderId!) { defect(builderId: $id, defectId: "defect_a1") { assignees {
        __typename ... on DefectUser { name } ... on DefectCompany { name } ... on DefectTag { name }
      } } }`,
      { id: accounts.builderId },
    );
    expect(data.defect.assignees).toEqual([
      { __typename: 'DefectUser', name: 'Ann' },
      { __typename: 'DefectCompany', name: 'Roof Pty Ltd' },
      { __typename: 'DefectTag', name: 'Electrical' },
    ]);
  });

  test('walks from builders to defects and back in one statement for each level', async () => {
    const query = `{ builders { data { defects(status: OPEN) { data {
      builder { name } project { name defects { meta { totalCount } } }
    } } } } }`;
    const { data } = await service.graphql(token, query);
    expect(data.builders.data.map((builder: { defects: { data: object[] } }) => builder.defects.data)).toEqual([
      [{ builder: { name: 'Hill Homes' }, project: { name: 'Hill School', defects: { meta: { totalCount: 2 } } } }],
      [{ builder: { name: 'Bay Build' }, project: { name: 'Bay Shed', defects: { meta: { totalCount: 1 } } } }],
    ]);
    // Builders, their defects, then the builders, projects and projects' defects of those.
    expect(await service.countStatements('au1', () => service.graphql(token, query))).toBe(5);
  });

  // RED-29
  test('leads from a company that is assigned to the whole subcontractor, with read:subcontractors', async () => {
    const query = `query ($id: BuilderId!) { defects(builderId: $id) { data { assignees {
      ... on DefectCompany { details { name } }
    } } } }`;
    const scope = ['read:defects', 'read:subcontractors'];
    const wide = await service.createToken({ clientId: accounts.clientId, scope });
    const { data } = await service.graphql(wide, query, { id: accounts.builderId });
    expect(data.defects.data[0].assignees).toEqual([{}, { details: { name: 'Roof Pty Ltd (Holdings)' } }, {}]);
    const { errors } = await service.graphql(token, query, { id: accounts.builderId });
    expect(errors![0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('needs read:defects for the edges too', async () => {
    const other = await service.createToken({ clientId: accounts.clientId, scope: 'read:builders' });
    const { errors } = await service.graphql(other, '{ builders { data { defects { data { id } } } } }');
    expect(errors![0]!.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
  });
});

describe('the database', () => {
  test('numbers the defects of a project without repeats (RED-28)', async () => {
    const { builderId, projectId } = accounts;
    const em = service.databases.au1.fork();
    const repeat = em.insert(Defect, {
      ...EMPTY,
      id: 'defect_c1',
      identifier: 1,
      builderId,
      projectId,
      title: 'Again',
      ...timestampsAt(9),
    });
    await expect(repeat).rejects.toMatchObject({ code: '23505' });
  });
});
