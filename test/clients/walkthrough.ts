import { ApiError, Client, fetchToken } from './client.ts';

declare const process: { argv: string[] };

/*
 * The steps of docs/rest.md and a write, as an integrator would program them. Prints the results as JSON.
 */

const [baseUrl, clientId, clientSecret, builderId] = process.argv.slice(2) as [string, string, string, string];

// 1. Request a token with the scopes that the application needs.
const scope = 'read:builders read:projects read:subcontractors read:timesheets read:meetings write:meetings';
const { access_token: token, expires_in: lifetime } = await fetchToken(baseUrl, { clientId, clientSecret, scope });
const client = new Client(baseUrl, token);

// 2. List the builders that are connected to the integrator, and the projects of one.
const builders = await client.get('/builders', {});
const projects = await client.get('/builders/{id}/projects', {
  path: { id: builderId },
  query: { status: 'IN_PROGRESS' },
});

// 3. Read all pages of a list without a builder in its path.
const header = { 'X-Service-Builder-Id': builderId };
const timesheets: string[] = [];
const readTimesheets = (window: { offset: number; limit: number }) =>
  client.get('/timesheets', { query: { status: 'WAITING_REVIEW', startDate: '2026-01-01', ...window }, header });
for await (const { id } of client.all(readTimesheets)) timesheets.push(id);

// 4. A validation error names all invalid fields.
const fieldErrors = await client
  .get('/subcontractors', { query: { limit: 99, offset: -1 }, header })
  .catch((error: unknown) => (error instanceof ApiError && 'errors' in error.body ? error.body.errors : []));

// 5. Repeat a write, as after a lost response: both calls return the same record.
const meeting = { title: 'Weekly site meeting', sourceApp: 'walkthrough', externalSourceId: 'meeting-1' };
const [created, repeated] = [
  await client.post('/builders/{builderId}/meetings', { path: { builderId }, body: meeting }),
  await client.post('/builders/{builderId}/meetings', { path: { builderId }, body: meeting }),
];

console.log(
  JSON.stringify({
    lifetime,
    builders: builders.data.map(({ id }) => id),
    statuses: [...new Set(projects.data.map(({ status }) => status))],
    timesheets,
    invalidFields: 'data' in fieldErrors ? [] : fieldErrors.map(({ fieldName }) => fieldName),
    meetings: [created.id, repeated.id],
  }),
);
