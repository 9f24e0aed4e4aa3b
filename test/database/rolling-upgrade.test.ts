import { beforeAll, expect, it } from 'vitest';
import { useBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';
import { addProject } from '../support/rows.ts';

const service = useService();
const client = useBuilderClient(service, 'A');
let projectId: string;

beforeAll(async () => {
  projectId = await addProject(service, client.builderId);
});

/** Reads and writes over each kind of connection. */
async function useEachConnection(): Promise<void> {
  const headers = { 'x-service-builder-id': client.builderId };
  const paths = ['/builders', '/timesheets', '/subcontractors', `/builders/${client.builderId}/photos`, '/me'];
  for (const path of paths) expect((await service.get(path, client.token, headers)).statusCode, path).toBe(200);
  const photo = await client.createPhoto({ projectId });
  await client.sendOk('PATCH', `/photos/${photo.id}`, { description: 'north side' });
  const meeting = await client.sendOk('POST', '/meetings', { title: 'Weekly' }, 201);
  await client.sendOk('POST', `/meetings/${meeting.id}/notes`, { externalSourceId: 'n', summaryMarkdown: 'a' }, 201);
  await client.sendOk('POST', `/meetings/${meeting.id}/notes`, { externalSourceId: 'n', summaryMarkdown: 'b' });
}

it('continues while the next release adds a column to each table (VER-11)', async () => {
  const em = service.databases.au1.fork();
  await useEachConnection();
  const tables = (await em.execute(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  )) as { name: string }[];
  for (const { name } of tables) await em.execute(`alter table "${name}" add column of_the_next_release text`);
  // More than once: what a connection has prepared is prepared on others too.
  for (let round = 0; round < 5; round++) await useEachConnection();
});
