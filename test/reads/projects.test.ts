import { beforeAll, describe, expect, it } from 'vitest';
import { Project } from '../../entities/project.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { useService } from '../support/harness.ts';
import { nullFieldsOf } from '../support/null-fields.ts';
import { fixtureDay, insertSubcontractors } from '../support/subcontractor-data.ts';

const service = useService();
let token: string;

const integrations = [{ type: 'PROCORE', sourceId: '42', companyId: '7' }];

const aProject = (id: string, changes: Partial<Project> = {}) => ({
  id,
  createdAt: fixtureDay(10),
  updatedAt: fixtureDay(11),
  builderId: 'buil_a',
  status: 'UPCOMING',
  name: 'Harbour',
  integrations: [],
  ...changes,
});

beforeAll(async () => {
  await insertSubcontractors(service.databases.au1);
  const projects = [aProject('proj_new', { integrations }), aProject('proj_old', { status: 'ARCHIVED' })];
  await service.databases.au1.fork().insertMany(Project, projects as Project[]);
  token = await service.createToken({ clientId: 'cli_a', scope: SCOPES });
});

describe('GET /builders/{id}/projects/{projectId}', () => {
  it('answers 200 with the fields of the contract, no more (RED-4)', async () => {
    const response = await service.get('/builders/buil_a/projects/proj_new', token);
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      ...nullFieldsOf('Project'),
      id: 'proj_new',
      status: 'UPCOMING',
      createdAt: fixtureDay(10),
      updatedAt: fixtureDay(11),
      name: 'Harbour',
      integrations,
    });
  });

  it.each(['proj_b', 'proj_nosuch', 'nonsense'])(
    'answers 404 for %s, which is not the builder’s (RED-4)',
    async (id) => {
      expect((await service.get(`/builders/buil_a/projects/${id}`, token)).statusCode).toBe(404);
    },
  );
});

describe('GET /builders/{id}/projects', () => {
  const idsOf = async (query: string): Promise<string[]> => {
    const response = await service.get(`/builders/buil_a/projects${query}`, token);
    expect(response.statusCode, response.body).toBe(200);
    return response.json().data.map(({ id }: { id: string }) => id);
  };

  it('answers 200 with the projects of the builder, in any state (RED-5)', async () => {
    const ids = await idsOf('');
    expect(ids).toEqual(expect.arrayContaining(['proj_a1', 'proj_new', 'proj_old']));
    expect(ids).not.toContain('proj_b');
  });

  it('answers 200 with those of one status (RED-5)', async () => {
    expect(await idsOf('?status=UPCOMING')).toEqual(['proj_new']);
    expect(await idsOf('?status=ARCHIVED')).toEqual(['proj_old']);
    expect(await idsOf('?status=COMPLETE')).toEqual([]);
  });

  it.each(['status=DONE', 'status=UPCOMING&status=ARCHIVED'])('answers 400 for ?%s (RED-5)', async (query) => {
    const response = await service.get(`/builders/buil_a/projects?${query}`, token);
    expect(response.statusCode).toBe(400);
    expect(response.json().errors).toMatchObject([{ fieldName: 'status' }]);
  });
});
