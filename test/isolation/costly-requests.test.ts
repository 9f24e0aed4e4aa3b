import { beforeAll, describe, expect, it } from 'vitest';
import { nestedQuery, notesQuery } from '../proof/noisy-neighbour/attacks/graphql.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';

const service = useService();
let token: string;
let builderId: string;
/** A project with one meeting, which is on the first page of its meetings. */
let projectId: string;
let meetingId: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  builderId = service.findDemoClient('A').builderIds[0]!;
  projectId = await addProject(service, builderId);
  meetingId = await addMeeting(projectId);
});

/** Creates a meeting with notes of 899,997 characters and returns its id. */
async function addMeeting(ofProject: string): Promise<string> {
  const response = await service.request({
    method: 'POST',
    url: `/builders/${builderId}/meetings`,
    headers: { authorization: `Bearer ${token}` },
    payload: { projectId: ofProject, title: 'Walk', notes: 'Crane. '.repeat(128_571) },
  });
  return response.json().id;
}

/** Runs the work, and returns what it did with the names of the statements that read records. */
async function withStatements<Result>(work: () => Promise<Result>) {
  const names: string[] = [];
  const end = service.databases.au1.onStatement(({ name }) => names.push(name));
  const result = await work();
  end();
  return { result, names };
}

const LARGE_READ = 'Meeting.large()';

describe('POST /graphql: 400', () => {
  it('rejects nested lists of 1,550 aliases before it reads a record, with the cost and the limit (LIM-15)', async () => {
    const query = nestedQuery(builderId);
    const readsOf = (names: string[]) => names.filter((name) => name.startsWith('Timesheet'));
    const allowed = `{ timesheets(builderId: "${builderId}") { data { id } } }`;
    expect(readsOf((await withStatements(() => service.graphql(token, allowed))).names)).toHaveLength(1);
    const { result, names } = await withStatements(() => service.graphql(token, query));
    const { extensions } = result.errors![0]!;
    expect(extensions).toMatchObject({ code: 'BAD_USER_INPUT', errors: [{ fieldName: 'query' }], limit: 500_000 });
    expect((extensions as { cost?: number }).cost).toBeGreaterThan(500_000);
    expect(readsOf(names)).toEqual([]);
  });

  it('rejects 590 aliases of a text of 900 KB before it sends a byte, with the bytes and the limit (LIM-16)', async () => {
    const { data, errors } = await service.graphql(token, notesQuery(builderId, meetingId, 590));
    expect(data ?? null).toBeNull();
    expect(errors![0]!.extensions).toMatchObject({
      ...{ code: 'BAD_USER_INPUT', errors: [{ fieldName: 'query' }] },
      ...{ limit: 67_108_864, http: { status: 400 } },
    });
    expect((errors![0]!.extensions as { cost?: number }).cost).toBeGreaterThan(67_108_864);
    expect((await service.graphql(token, notesQuery(builderId, meetingId, 2))).errors).toBeUndefined();
  });
});

describe('lists of records with large values', () => {
  const ofAliases = (fields: string, more = '') =>
    `{ ${more} ${[0, 1, 2, 3, 4].map((at) => `a${at}: meetings(builderId: "${builderId}", projectId: "${projectId}") { data { ${fields} } }`).join(' ')} }`;

  it.each([
    ['compiled', ''],
    // Operations with introspection are not compiled.
    ['interpreted', '__schema { queryType { name } }'],
  ])('read no large value that a query does not name, where it is %s (LIM-19)', async (_, more) => {
    const ids = await withStatements(() => service.graphql(token, ofAliases('id', more)));
    expect(ids.result.errors).toBeUndefined();
    expect(ids.names).not.toContain(LARGE_READ);
    const notes = await withStatements(() => service.graphql(token, ofAliases('id notes', more)));
    expect(notes.result.errors).toBeUndefined();
    expect(notes.names).toContain(LARGE_READ);
  });

  it('read the large values of several records in one statement', async () => {
    const otherProjectId = await addProject(service, builderId);
    for (let count = 0; count < 5; count++) await addMeeting(otherProjectId);
    const query = `{ meetings(builderId: "${builderId}", projectId: "${otherProjectId}") { data { notes } } }`;
    const { result, names } = await withStatements(() => service.graphql(token, query));
    expect(result.data.meetings.data.map(({ notes }: { notes: string }) => notes.length)).toEqual(
      new Array(5).fill(899_997),
    );
    expect(names.filter((name) => name === LARGE_READ)).toHaveLength(2);
  });

  it('do not read large values over the connections of small reads, in REST (LIM-19)', async () => {
    const { runner, slowRunner } = service.databases.au1;
    const names = { small: [] as string[], slow: [] as string[] };
    const ends = [
      runner.onStatement(({ name }) => names.small.push(name)),
      slowRunner.onStatement(({ name }) => names.slow.push(name)),
    ];
    const response = await service.get(`/builders/${builderId}/meetings?projectId=${projectId}`, token);
    for (const end of ends) end();
    expect(response.json().data.find(({ id }: { id: string }) => id === meetingId).notes).toHaveLength(899_997);
    expect(names.small).not.toContain(LARGE_READ);
    expect(names.slow).toContain(LARGE_READ);
  });
});
