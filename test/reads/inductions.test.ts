import { beforeAll, describe, expect, test } from 'vitest';
import { SCOPES } from '../../schema/scopes.ts';
import { useService } from '../support/harness.ts';
import { fixtureDay, insertSubcontractors } from '../support/subcontractor-data.ts';

const service = useService();
let token: string;

beforeAll(async () => {
  await insertSubcontractors(service.databases.au1);
  token = await service.createToken({ clientId: 'cli_a', scope: SCOPES });
});

const PROJECT_INDUCTIONS = '/builders/buil_a/projects/proj_a1/inductions';

async function idsOf(url: string): Promise<string[]> {
  const response = await service.get(url, token);
  expect(response.statusCode, response.body).toBe(200);
  return (response.json().data as { id: string }[]).map(({ id }) => id);
}

async function statusOf(url: string, headers: Record<string, string> = {}): Promise<number> {
  return (await service.get(url, token, headers)).statusCode;
}

const FIRST = {
  id: 'ind_a1',
  createdAt: fixtureDay(1),
  updatedAt: fixtureDay(1),
  identifier: 1,
  type: 'PROJECT_INDUCTION',
  status: 'REVIEWED',
  project: { id: 'proj_a1', name: 'Site proj_a1' },
  worker: { id: 'wkr_a1', fullName: 'Alex Ng' },
  subcontractor: { id: 'sub_a1', name: 'Company sub_a1' },
};

describe('GET /subcontractors/{id}/inductions answers 200 with', () => {
  test('exactly the fields of the contract (RED-20)', async () => {
    const { data } = (await service.get('/subcontractors/sub_a1/inductions', token)).json();
    expect(data[0]).toEqual(FIRST);
  });

  test('the inductions of the project and status of the filter (RED-20)', async () => {
    expect(await idsOf('/subcontractors/sub_a1/inductions')).toEqual(['ind_a1', 'ind_a2', 'ind_a3']);
    expect(await idsOf('/subcontractors/sub_a1/inductions?projectId=proj_a1')).toEqual(['ind_a1', 'ind_a2']);
    expect(await idsOf('/subcontractors/sub_a1/inductions?projectId=proj_a1&status=WAITING_REVIEW')).toEqual([
      'ind_a2',
    ]);
    expect(await idsOf('/subcontractors/sub_a1/inductions?projectId=proj_b')).toEqual([]);
  });
});

describe('GET /builders/{builderId}/projects/{projectId}/inductions answers', () => {
  test('200 with the inductions to the project, those of archived subcontractors too (RED-21)', async () => {
    expect(await idsOf(PROJECT_INDUCTIONS)).toEqual(['ind_a1', 'ind_a2', 'ind_archived']);
    expect(await idsOf(`${PROJECT_INDUCTIONS}?status=WAITING_REVIEW`)).toEqual(['ind_a2']);
    expect(await idsOf(`${PROJECT_INDUCTIONS}?offset=1&limit=1`)).toEqual(['ind_a2']);
    expect(await idsOf('/builders/buil_a/projects/proj_empty/inductions')).toEqual([]);
  });

  test('200 in one SQL statement', async () => {
    await service.get(PROJECT_INDUCTIONS, token);
    expect(await service.countStatements('au1', () => service.get(PROJECT_INDUCTIONS, token))).toBe(1);
  });

  test('400 for an unknown status', async () => {
    expect(await statusOf(`${PROJECT_INDUCTIONS}?status=DONE`)).toBe(400);
  });

  test('403 for an unconnected builder and without the scope', async () => {
    expect(await statusOf('/builders/buil_b/projects/proj_b/inductions')).toBe(403);
    expect(await statusOf('/builders/buil_narrow/projects/proj_a1/inductions')).toBe(403);
  });

  test("404 for a project that is not the builder's", async () => {
    expect(await statusOf('/builders/buil_a/projects/proj_b/inductions')).toBe(404);
    expect(await statusOf('/builders/buil_a/projects/proj_none/inductions')).toBe(404);
  });
});

describe('GET /builders/{builderId}/projects/{projectId}/inductions/{identifierOrId} answers', () => {
  test('200 with the induction and what the worker filled in, by number and by id (RED-22)', async () => {
    const expected = { ...FIRST, data: [{ name: 'Licence', type: 'text', value: 'HR' }] };
    for (const key of ['1', 'ind_a1']) {
      const response = await service.get(`${PROJECT_INDUCTIONS}/${key}`, token);
      expect(response.json()).toEqual(expected);
    }
    await service.get(`${PROJECT_INDUCTIONS}/1`, token);
    expect(await service.countStatements('au1', () => service.get(`${PROJECT_INDUCTIONS}/1`, token))).toBe(1);
  });

  test('200 with the induction of that number on that project (RED-20, RED-22)', async () => {
    const response = await service.get('/builders/buil_a/projects/proj_a2/inductions/1', token);
    expect(response.json()).toMatchObject({ id: 'ind_a3', type: 'COMPANY_INDUCTION', data: [] });
  });

  test.each(['9', '0', '01', '-1', '2147483648', '99999999999', '1.5', 'ind_none', 'ind_a3', 'wkr_a1', 'x'])(
    '404 for %s: unknown, on another project or misshapen (RED-22)',
    async (key) => {
      expect(await statusOf(`${PROJECT_INDUCTIONS}/${key}`)).toBe(404);
    },
  );
});

describe('GraphQL', () => {
  test('lists the inductions of a project, a subcontractor and a worker, and leads back to the worker', async () => {
    const { data, errors } = await service.graphql(
      token,
      `{ projects(builderId: "buil_a") { data { id
          inductions(status: REVIEWED) { meta { totalCount } data { identifier worker { details { fullName
            inductions(projectId: "proj_a2") { data { id } } } } subcontractor { details { id } } } } } }
        subcontractor(id: "sub_a1") { inductions(status: WAITING_REVIEW) { data { id } } }
        induction(builderId: "buil_a", projectId: "proj_a1", identifierOrId: 1) { data { value } project { details { id } } } }`,
    );
    expect(errors).toBeUndefined();
    expect(data.projects.data[0].inductions).toEqual({
      meta: { totalCount: 2 },
      data: [
        {
          identifier: 1,
          worker: { details: { fullName: 'Alex Ng', inductions: { data: [{ id: 'ind_a3' }] } } },
          subcontractor: { details: { id: 'sub_a1' } },
        },
        {
          identifier: 3,
          worker: { details: { fullName: 'Sam Fox', inductions: { data: [] } } },
          subcontractor: { details: null },
        },
      ],
    });
    expect(data.projects.data[2].inductions).toEqual({ meta: { totalCount: 0 }, data: [] });
    expect(data.subcontractor.inductions.data).toEqual([{ id: 'ind_a2' }]);
    expect(data.induction).toEqual({ data: [{ value: 'HR' }], project: { details: { id: 'proj_a1' } } });
  });

  test('needs read:inductions for the edge and read:subcontractors for the worker', async () => {
    const codeOf = async (scope: string[], query: string) => {
      const narrow = await service.createToken({ clientId: 'cli_a', scope });
      return (await service.graphql(narrow, query)).errors?.[0]?.extensions.code;
    };
    const inductions = '{ projects(builderId: "buil_a") { data { inductions { data { id } } } } }';
    const worker =
      '{ projectInductions(builderId: "buil_a", projectId: "proj_a1") { data { worker { id details { id } } } } }';
    expect(await codeOf(['read:projects'], inductions)).toBe('INSUFFICIENT_SCOPE');
    expect(await codeOf(['read:inductions'], worker)).toBe('INSUFFICIENT_SCOPE');
    expect(await codeOf(['read:inductions', 'read:subcontractors'], worker)).toBeUndefined();
  });
});
