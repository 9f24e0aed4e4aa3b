import { beforeAll, describe, expect, test } from 'vitest';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { SubcontractorProject } from '../../entities/subcontractor-project.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { type Service, useService } from '../support/harness.ts';
import { fixtureDay, insertSubcontractors } from '../support/subcontractor-data.ts';

const service = useService();
let token: string;
let internalToken: string;

beforeAll(async () => {
  await insertSubcontractors(service.databases.au1);
  token = await service.createToken({ clientId: 'cli_a', scope: SCOPES });
  internalToken = await service.createToken({ clientId: 'cli_internal', scope: SCOPES });
});

const BUILDER_A_HEADERS = { 'x-service-builder-id': 'buil_a' };

async function idsOf(url: string, headers: Record<string, string> = {}): Promise<string[]> {
  const response = await service.get(url, token, headers);
  expect(response.statusCode, response.body).toBe(200);
  return (response.json().data as { id: string }[]).map(({ id }) => id);
}

async function bodyOf(url: string, headers: Record<string, string> = {}) {
  const response = await service.get(url, token, headers);
  expect(response.statusCode, response.body).toBe(200);
  return response.json();
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  return (await service.get(url, token, headers)).statusCode;
}

async function countStatements(url: string, headers: Record<string, string> = {}): Promise<number> {
  // The first call may also look up the token and the rate budget.
  await service.get(url, token, headers);
  return service.countStatements('au1', () => service.get(url, token, headers));
}

describe('GET /subcontractors answers 200 with', () => {
  test('the third-party subcontractors of the builder in the header, without the archived ones (RED-7)', async () => {
    expect(await idsOf('/subcontractors', BUILDER_A_HEADERS)).toEqual(['sub_a1', 'sub_a3']);
    expect((await bodyOf('/subcontractors', BUILDER_A_HEADERS)).meta).toEqual({
      totalCount: 2,
      totalPages: 1,
      offset: 0,
      limit: 25,
    });
  });

  test("the builder's company record too, when includeBuilderCompany is true (RED-7)", async () => {
    expect(await idsOf('/subcontractors?includeBuilderCompany=true', BUILDER_A_HEADERS)).toEqual([
      'sub_a1',
      'sub_company',
      'sub_a3',
    ]);
    expect(await idsOf('/subcontractors?includeBuilderCompany=false', BUILDER_A_HEADERS)).toEqual(['sub_a1', 'sub_a3']);
  });

  test('exactly the fields of the contract (RED-6)', async () => {
    const { data } = await bodyOf('/subcontractors', BUILDER_A_HEADERS);
    expect(data[0]).toEqual({
      id: 'sub_a1',
      createdAt: fixtureDay(1),
      updatedAt: fixtureDay(1),
      name: 'Company sub_a1',
      abn: '51824753556',
      isBuilder: false,
      address: { street: '1 Pier St', suburb: 'Perth', state: 'WA', postcode: '6000', country: 'Australia' },
      statuses: ['INVITED', 'SWMS_UPLOADED', 'PREQUALIFIED'],
      tags: ['steel', 'a "quoted", tag'],
      integrations: [{ type: 'ledger', sourceId: 's1', companyId: 'c1' }],
    });
    expect(data[1]).toMatchObject({
      abn: null,
      address: { street: null, suburb: null, state: null, postcode: null, country: null },
      statuses: [],
      tags: [],
      integrations: [],
    });
  });

  test('those on the project of the filter, with what they have reached there (RED-8)', async () => {
    const { data } = await bodyOf('/subcontractors?projectId=proj_a1&includeBuilderCompany=true', BUILDER_A_HEADERS);
    expect(data.map(({ id, statuses }: Subcontractor) => [id, statuses])).toEqual([
      ['sub_a1', ['INVITED', 'SWMS_UPLOADED']],
      ['sub_company', ['ACCEPTED']],
    ]);
  });

  test("an empty list for a project that is not the builder's", async () => {
    for (const projectId of ['proj_b', 'proj_unknown']) {
      const body = await bodyOf(`/subcontractors?projectId=${projectId}`, BUILDER_A_HEADERS);
      expect(body).toEqual({ data: [], meta: { totalCount: 0, totalPages: 0, offset: 0, limit: 25 } });
    }
  });

  test('pages that add up to the whole, and the offset and limit that were asked for', async () => {
    const first = await bodyOf('/subcontractors?limit=1', BUILDER_A_HEADERS);
    const second = await bodyOf('/subcontractors?limit=1&offset=1', BUILDER_A_HEADERS);
    expect([first.data[0].id, second.data[0].id]).toEqual(['sub_a1', 'sub_a3']);
    expect(second.meta).toEqual({ totalCount: 2, totalPages: 2, offset: 1, limit: 1 });
    const past = await bodyOf('/subcontractors?offset=9', BUILDER_A_HEADERS);
    expect(past).toEqual({ data: [], meta: { totalCount: 2, totalPages: 1, offset: 9, limit: 25 } });
  });

  test('one SQL statement', async () => {
    expect(await countStatements('/subcontractors', BUILDER_A_HEADERS)).toBe(1);
    expect(await countStatements('/subcontractors?projectId=proj_a1', BUILDER_A_HEADERS)).toBe(1);
  });
});

describe('GET /subcontractors answers', () => {
  test('400 without a builder, and for what is no boolean or project id', async () => {
    expect(await statusOf('/subcontractors')).toBe(400);
    const response = await service.get(
      '/subcontractors?includeBuilderCompany=yes&projectId=buil_a',
      token,
      BUILDER_A_HEADERS,
    );
    expect(response.statusCode).toBe(400);
    const fields = response.json().errors.map(({ fieldName }: { fieldName: string }) => fieldName);
    expect(fields.toSorted()).toEqual(['includeBuilderCompany', 'projectId']);
  });

  test('403 without the scope, for an unconnected builder and for an internal client', async () => {
    const other = await service.createToken({ clientId: 'cli_a', scope: 'read:projects' });
    expect((await service.get('/subcontractors', other, BUILDER_A_HEADERS)).json().code).toBe('INSUFFICIENT_SCOPE');
    const response = await service.get('/subcontractors', token, { 'x-service-builder-id': 'buil_b' });
    expect([response.statusCode, response.json().code]).toEqual([403, 'FORBIDDEN']);
    expect((await service.get('/subcontractors', internalToken, BUILDER_A_HEADERS)).statusCode).toBe(403);
  });

  test('404 for a builder that does not exist', async () => {
    expect(await statusOf('/subcontractors', { 'x-service-builder-id': 'buil_none' })).toBe(404);
  });
});

describe('GET /subcontractors/{id} answers 200 with', () => {
  test('the subcontractor and the union of its statuses, in one SQL statement (RED-8)', async () => {
    expect((await bodyOf('/subcontractors/sub_a1')).statuses).toEqual(['INVITED', 'SWMS_UPLOADED', 'PREQUALIFIED']);
    expect(await countStatements('/subcontractors/sub_a1')).toBe(1);
  });

  test('the statuses on the project of the request, which may be none (RED-8)', async () => {
    const statusesOn = async (projectId: string) =>
      (await bodyOf(`/subcontractors/sub_a1?projectId=${projectId}`)).statuses;
    expect(await statusesOn('proj_a2')).toEqual(['INVITED', 'PREQUALIFIED']);
    expect(await statusesOn('proj_empty')).toEqual([]);
    expect(await statusesOn('proj_b')).toEqual([]);
  });

  test("the builder's company record when includeBuilderCompany is true (RED-9)", async () => {
    expect((await bodyOf('/subcontractors/sub_company?includeBuilderCompany=true')).isBuilder).toBe(true);
  });
});

describe('GET /subcontractors/{id} answers', () => {
  test("404 for the builder's company record without includeBuilderCompany (RED-9)", async () => {
    expect(await statusOf('/subcontractors/sub_company')).toBe(404);
    expect(await statusOf('/subcontractors/sub_company?includeBuilderCompany=false')).toBe(404);
  });

  test.each(['sub_a2', 'sub_b', 'sub_none', 'proj_a1', 'nonsense'])(
    '404 for %s: archived, of an unconnected builder, unknown or misshapen (RED-9)',
    async (id) => {
      expect(await statusOf(`/subcontractors/${id}`)).toBe(404);
    },
  );

  test('403 when the builder header names another builder', async () => {
    expect(await statusOf('/subcontractors/sub_narrow', BUILDER_A_HEADERS)).toBe(403);
    expect(await statusOf('/subcontractors/sub_narrow', { 'x-service-builder-id': 'buil_narrow' })).toBe(200);
  });
});

const SUB_LISTS = ['projects', 'swms', 'prequalifications', 'insurances', 'contacts', 'inductions'];

describe.each(SUB_LISTS)('GET /subcontractors/{id}/%s answers', (list) => {
  test('200 with a page, in one SQL statement', async () => {
    const body = await bodyOf(`/subcontractors/sub_a1/${list}?limit=1&offset=1`);
    expect(body.data).toHaveLength(1);
    expect(body.meta).toEqual({
      totalCount: body.meta.totalCount,
      totalPages: body.meta.totalCount,
      offset: 1,
      limit: 1,
    });
    expect(await countStatements(`/subcontractors/sub_a1/${list}`)).toBe(1);
  });

  test('200 with an empty page when there is nothing', async () => {
    const body = await bodyOf(`/subcontractors/sub_a3/${list}${list === 'insurances' ? '?type=OTHER' : ''}`);
    expect(body).toEqual({ data: [], meta: { totalCount: 0, totalPages: 0, offset: 0, limit: 25 } });
  });

  test("200 for the builder's company record (RED-11)", async () => {
    expect(await statusOf(`/subcontractors/sub_company/${list}`)).toBe(200);
  });

  test('400 for a limit above 25', async () => {
    expect(await statusOf(`/subcontractors/sub_a1/${list}?limit=26`)).toBe(400);
  });

  test('403 without its scope, in the token or in the connection, and under the header of another builder', async () => {
    const scope = `read:${list}`;
    const without = await service.createToken({ clientId: 'cli_a', scope: SCOPES.filter((other) => other !== scope) });
    const alone = await service.createToken({ clientId: 'cli_a', scope });
    const url = `/subcontractors/sub_a1/${list}`;
    expect((await service.get(url, without)).json().code).toBe('INSUFFICIENT_SCOPE');
    expect((await service.get(url, alone)).statusCode).toBe(200);
    expect((await service.get(`/subcontractors/sub_narrow/${list}`, token)).json().code).toBe('INSUFFICIENT_SCOPE');
    expect(await statusOf(url, { 'x-service-builder-id': 'buil_narrow' })).toBe(403);
  });

  test('404 for an archived, unconnected or unknown subcontractor (RED-11)', async () => {
    for (const id of ['sub_a2', 'sub_b', 'sub_none']) expect(await statusOf(`/subcontractors/${id}/${list}`)).toBe(404);
  });
});

describe('What a subcontractor has handed in:', () => {
  test('its projects, in order (RED-10)', async () => {
    expect(await idsOf('/subcontractors/sub_a1/projects')).toEqual(['proj_a1', 'proj_a2']);
  });

  test('SWMS documents, by project, with exactly the fields of the contract (RED-11, RED-12)', async () => {
    expect(await idsOf('/subcontractors/sub_a1/swms')).toEqual(['swms_a1', 'swms_a2']);
    expect(await idsOf('/subcontractors/sub_a1/swms?projectId=proj_a1')).toEqual(['swms_a1']);
    expect(await idsOf('/subcontractors/sub_a1/swms?projectId=proj_b')).toEqual([]);
    expect(await idsOf('/subcontractors/sub_company/swms')).toEqual(['swms_company']);
    const { data } = await bodyOf('/subcontractors/sub_a1/swms');
    expect(data[0]).toEqual({
      id: 'swms_a1',
      createdAt: fixtureDay(1),
      updatedAt: fixtureDay(1),
      name: 'Method swms_a1',
      status: 'WAITING_REVIEW',
      url: 'https://files.example/swms_a1.pdf',
    });
    expect(await bodyOf('/subcontractors/sub_a1/swms/swms_a1')).toEqual(data[0]);
  });

  test('prequalifications, by status (RED-13)', async () => {
    expect(await idsOf('/subcontractors/sub_a1/prequalifications')).toEqual(['prequal_a1', 'prequal_a2']);
    expect(await idsOf('/subcontractors/sub_a1/prequalifications?status=APPROVED')).toEqual(['prequal_a2']);
    expect(await statusOf('/subcontractors/sub_a1/prequalifications?status=approved')).toBe(400);
    expect(await bodyOf('/subcontractors/sub_a1/prequalifications/prequal_a2')).toEqual({
      id: 'prequal_a2',
      createdAt: fixtureDay(2),
      updatedAt: fixtureDay(2),
      status: 'APPROVED',
      reviewComments: 'Good.',
    });
  });

  test('insurances, by type, status and custom type (RED-14)', async () => {
    expect(await idsOf('/subcontractors/sub_a1/insurances')).toEqual(['doc_a1', 'doc_a2']);
    expect(await idsOf('/subcontractors/sub_a1/insurances?type=OTHER&status=EXPIRED&customType=Plant')).toEqual([
      'doc_a2',
    ]);
    expect(await idsOf('/subcontractors/sub_a1/insurances?customType=plant')).toEqual([]);
    expect(await idsOf(`/subcontractors/sub_a1/insurances?expiresBefore=${fixtureDay(30)}`)).toEqual([
      'doc_a1',
      'doc_a2',
    ]);
    expect(await bodyOf('/subcontractors/sub_a1/insurances/doc_a1')).toEqual({
      id: 'doc_a1',
      createdAt: fixtureDay(1),
      updatedAt: fixtureDay(1),
      name: 'Policy doc_a1',
      type: 'PUBLIC_LIABILITY',
      customType: null,
      status: 'REVIEWED',
      expiry: fixtureDay(20),
      url: 'https://files.example/doc_a1.pdf',
    });
  });

  test('contacts, by project and whether primary (RED-16)', async () => {
    const { data } = await bodyOf('/subcontractors/sub_a1/contacts');
    expect(data[0]).toEqual({
      id: 'con_a1',
      createdAt: fixtureDay(1),
      updatedAt: fixtureDay(1),
      name: 'Person con_a1',
      email: 'kim@example.com',
      phone: null,
      isPrimary: true,
      type: 'SUBCONTRACTOR',
      projectIds: ['proj_a1', 'proj_a2'],
    });
    expect(await idsOf('/subcontractors/sub_a1/contacts?projectId=proj_a1')).toEqual(['con_a1']);
    expect(await idsOf('/subcontractors/sub_a1/contacts?isPrimary=false')).toEqual(['con_a2']);
    expect(await idsOf('/subcontractors/sub_a1/contacts?isPrimary=true&projectId=proj_b')).toEqual([]);
  });

  test.each([
    '/subcontractors/sub_a3/swms/swms_a1',
    '/subcontractors/sub_a2/swms/swms_archived',
    '/subcontractors/sub_a1/swms/swms_none',
    '/subcontractors/sub_a3/prequalifications/prequal_a1',
    '/subcontractors/sub_a3/insurances/doc_a1',
    '/subcontractors/sub_a1/insurances/swms_a1',
  ])('404 for %s: of another subcontractor, an archived one, or none (RED-17)', async (url) => {
    expect(await statusOf(url)).toBe(404);
  });

  test('403, not 404, for what may be there when the connection does not allow the scope', async () => {
    expect(await statusOf('/subcontractors/sub_narrow/swms/swms_a1')).toBe(403);
  });
});

describe('GraphQL', () => {
  // RED-19
  test('walks from the builder to everything that its subcontractors hold, a statement for each kind of edge', async () => {
    const query = `{ builders { data { id subcontractors(includeBuilderCompany: true, limit: 4) { meta { totalCount } data { id
      builder { id } projects(limit: 4) { data { id } } swms(projectId: "proj_a1", limit: 4) { data { id } }
      prequalifications(limit: 4) { data { id } }
      insurances(expiresBefore: "${fixtureDay(40)}", limit: 4) { data { id subcontractor { name details { id } } } }
      contacts(isPrimary: true, limit: 4) { data { id } }
      workers(limit: 4) { data { fullName subcontractor { id }
        siteAccess(limit: 4) { data { project { id details { name } } grantedAt revokedAt } } } }
    } } } } }`;
    let answer: Awaited<ReturnType<Service['graphql']>> | undefined;
    const count = await service.countStatements('au1', async () => {
      answer = await service.graphql(internalToken, query);
    });
    expect(answer!.errors).toBeUndefined();
    const ofA = answer!.data.builders.data.find(({ id }: { id: string }) => id === 'buil_a');
    expect(ofA.subcontractors.meta.totalCount).toBe(3);
    expect(ofA.subcontractors.data[0]).toEqual({
      id: 'sub_a1',
      builder: { id: 'buil_a' },
      projects: { data: [{ id: 'proj_a1' }, { id: 'proj_a2' }] },
      swms: { data: [{ id: 'swms_a1' }] },
      prequalifications: { data: [{ id: 'prequal_a1' }, { id: 'prequal_a2' }] },
      insurances: { data: [{ id: 'doc_a1', subcontractor: { name: 'Company sub_a1', details: { id: 'sub_a1' } } }] },
      contacts: { data: [{ id: 'con_a1' }] },
      workers: {
        data: [
          {
            fullName: 'Alex Ng',
            subcontractor: { id: 'sub_a1' },
            siteAccess: {
              data: [
                {
                  project: { id: 'proj_a1', details: { name: 'Site proj_a1' } },
                  grantedAt: fixtureDay(1),
                  revokedAt: null,
                },
                {
                  project: { id: 'proj_a2', details: { name: 'Site proj_a2' } },
                  grantedAt: fixtureDay(2),
                  revokedAt: fixtureDay(9),
                },
              ],
            },
          },
        ],
      },
    });
    expect(ofA.subcontractors.data[1].swms.data).toEqual([{ id: 'swms_company' }]);
    // The token's look-up, the builders, and one for each of the twelve edges.
    expect(count).toBeLessThanOrEqual(14);
  });

  test('returns the statuses on the project of the edge (RED-8)', async () => {
    const { data } = await service.graphql(
      token,
      `{ projects(builderId: "buil_a") { data { id subcontractors { data { id statuses } meta { totalCount } } } } }`,
    );
    expect(data.projects.data.map((project: { subcontractors: unknown }) => project.subcontractors)).toEqual([
      { data: [{ id: 'sub_a1', statuses: ['INVITED', 'SWMS_UPLOADED'] }], meta: { totalCount: 1 } },
      { data: [{ id: 'sub_a1', statuses: ['INVITED', 'PREQUALIFIED'] }], meta: { totalCount: 1 } },
      { data: [], meta: { totalCount: 0 } },
    ]);
  });

  // RED-18
  test('finds the insurances of a builder that expire in a range, without those of archived subcontractors', async () => {
    const query = `query ($after: Timestamp, $before: Timestamp) {
      insurances(builderId: "buil_a", expiresAfter: $after, expiresBefore: $before) { data { id subcontractor { id } } } }`;
    const range = async (after: string | null, before: string | null) => {
      const { data, errors } = await service.graphql(token, query, { after, before });
      return errors?.[0]?.extensions ?? data.insurances.data;
    };
    expect(await range(fixtureDay(20), fixtureDay(30))).toEqual([{ id: 'doc_a1', subcontractor: { id: 'sub_a1' } }]);
    expect(await range(fixtureDay(21), null)).toHaveLength(2);
    expect(await range(null, null)).toHaveLength(3);
    expect(await range(fixtureDay(30), fixtureDay(20))).toMatchObject({ errors: [{ fieldName: 'expiresBefore' }] });
  });

  test('needs for every edge the scope of what it leads to (RED-19)', async () => {
    const narrow = await service.createToken({ clientId: 'cli_a', scope: 'read:subcontractors' });
    const through = async (edge: string) => {
      const answer = await service.graphql(narrow, `{ subcontractor(id: "sub_a1") { ${edge} } }`);
      return answer.errors?.[0]?.extensions.code;
    };
    expect(await through('workers { data { id } }')).toBeUndefined();
    for (const list of SUB_LISTS) expect(await through(`${list} { data { id } }`)).toBe('INSUFFICIENT_SCOPE');
    expect(await through('builder { id }')).toBe('INSUFFICIENT_SCOPE');
    expect(await through('workers { data { siteAccess { data { grantedAt } } } }')).toBe('INSUFFICIENT_SCOPE');
    const insurances = await service.graphql(narrow, '{ insurances(builderId: "buil_a") { data { id } } }');
    expect(insurances.errors?.[0]?.extensions.code).toBe('INSUFFICIENT_SCOPE');
  });

  test('has no REST route for what is GraphQL alone', async () => {
    expect(await statusOf('/insurances', BUILDER_A_HEADERS)).toBe(404);
  });
});

describe('The database', () => {
  const insert = (row: Partial<Subcontractor>) =>
    service.databases.au1.fork().insert(Subcontractor, {
      builderId: 'buil_a',
      name: 'Company',
      isBuilder: true,
      address: {} as Subcontractor['address'],
      tags: [],
      integrations: [],
      createdAt: fixtureDay(1),
      updatedAt: fixtureDay(1),
      ...row,
    } as never);

  test('holds one company record of a builder that is not archived (RED-7)', async () => {
    await expect(insert({ id: 'sub_second' })).rejects.toThrow(/unique/);
    await insert({ id: 'sub_former', archivedAt: fixtureDay(2) });
    expect(await statusOf('/subcontractors/sub_former?includeBuilderCompany=true')).toBe(404);
  });

  test('contains only statuses of the contract (RED-6)', async () => {
    const link = { subcontractorId: 'sub_a3', projectId: 'proj_a1', statuses: ['UNHEARD_OF'] };
    await expect(service.databases.au1.fork().insert(SubcontractorProject, link as never)).rejects.toThrow(/check/);
  });
});
