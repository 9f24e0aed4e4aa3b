import { ApiError, Client, fetchToken } from './client.ts';

declare const process: { argv: string[] };

/*
 * The steps of docs/rest.md, and a write, as an integrator would program them. Prints what it saw.
 */

const [baseUrl, clientId, clientSecret, builderId] = process.argv.slice(2) as [string, string, string, string];

// 1. A token for the scopes that the application needs.
const scope = 'read:builders read:projects read:subcontractors read:timesheets read:meetings write:meetings';
const { access_token: token, expires_in: lifetime } = await fetchToken(baseUrl, { clientId, clientSecret, scope });
const client = new Client(baseUrl, token);

// 2. The builders that are connected to the integrator, and the projects of one.
const builders = await client.get('/builders', {});
const projects = await client.get('/builders/{id}/projects', {
  path: { id: builderId },
  query: { status: 'IN_PROGRESS' },
});

// 3. A list without a builder in its path, page after page.
const header = { 'X-Service-Builder-Id': builderId };
const timesheets: string[] = [];
const read = (window: { offset: number; limit: number }) =>
  client.get('/timesheets', { query: { status: 'WAITING_REVIEW', startDate: '2026-01-01', ...window }, header });
for await (const { id } of client.all(read)) timesheets.push(id);

// 4. What is wrong is named, all at once.
const wrong = await client
  .get('/subcontractors', { query: { limit: 99, offset: -1 }, header })
  .catch((error: unknown) => (error instanceof ApiError && 'errors' in error.body ? error.body.errors : []));

// A write, which is not done twice when its answer is lost.
const meeting = { title: 'Weekly site meeting', sourceApp: 'story', externalSourceId: 'meeting-1' };
const [first, again] = [
  await client.post('/builders/{builderId}/meetings', { path: { builderId }, body: meeting }),
  await client.post('/builders/{builderId}/meetings', { path: { builderId }, body: meeting }),
];

console.log(
  JSON.stringify({
    lifetime,
    builders: builders.data.map(({ id }) => id),
    statuses: [...new Set(projects.data.map(({ status }) => status))],
    timesheets,
    wrong: 'data' in wrong ? [] : wrong.map(({ fieldName }) => fieldName),
    meetings: [first.id, again.id],
  }),
);
