import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { EventFilter } from '../../src/domain/events/event-filter.ts';
import { eventTypes, parseResource } from '../../src/domain/events/event-types.ts';
import { numberPendingEvents } from '../support/events.ts';
import { useService } from '../support/harness.ts';
import { createSamples } from '../support/samples.ts';

interface Event {
  type: string;
  builderId: string;
  resource: { id: string };
}

const service = useService();
let client: pg.Client;
let builderId: string;
let cursor: string;

/** Returns all events after the cursor that the token may read. */
async function readEvents(token: string): Promise<Event[]> {
  const events: Event[] = [];
  for (let after = cursor, hasMore = true; hasMore; ) {
    const page = (await service.get(`/events?after=${after}`, token)).json();
    events.push(...page.data);
    ({ nextCursor: after, hasMore } = page.meta);
  }
  return events;
}

const scopes = [...new Set(eventTypes.values())];
const resourcesOf = (scope: string) =>
  [...eventTypes].filter(([, one]) => one === scope).map(([type]) => parseResource(type));

beforeAll(async () => {
  client = new pg.Client({ connectionString: service.databases.au1.url });
  await client.connect();
  builderId = service.findDemoClient('A').builderIds[0]!;
  // Adds a row of each resource that the builder lacks.
  await createSamples(service.databases.au1, builderId);
  const number = async () => {
    await numberPendingEvents(service.databases.au1);
  };
  await number();
  cursor = (await service.get('/events', await service.tokenOf('A'))).json().meta.nextCursor;
  const { rows } = await client.query<{ table: string }>(
    `select tgrelid::regclass::text as table from pg_trigger where tgname like '%_event_update'`,
  );
  // A change of a row of each published resource, of every builder.
  for (const { table } of rows) {
    const builder = table === 'builder' ? 'id' : 'builder_id';
    await client.query(`update ${table} set id = id where id in (select min(id) from ${table} group by ${builder})`);
  }
  await number();
});

afterAll(() => client?.end());

describe('the events that a token sees', () => {
  it('are those of its integrator’s builders (EVT-7)', async () => {
    const seen = await readEvents(await service.tokenOf('A'));
    expect([...new Set(seen.map((event) => event.builderId))].sort()).toEqual(
      [...service.findDemoClient('A').builderIds].sort(),
    );
    const own = seen.filter((event) => event.builderId === builderId);
    const resources = new Set(own.map(({ type }) => parseResource(type)));
    expect(resources.size).toBeGreaterThan(12);
    for (const { builderId: other } of await readEvents(await service.tokenOf('B'))) {
      expect(service.findDemoClient('B').builderIds).toContain(other);
    }
  });

  it.each(scopes)('are those of the resources of its scope %s (EVT-7)', async (scope) => {
    const seen = await readEvents(await service.tokenOf('A', [scope]));
    expect(seen.length).toBeGreaterThan(0);
    for (const { type } of seen) expect(resourcesOf(scope)).toContain(parseResource(type));
  });

  it('are those that the connection of each builder allows (EVT-7)', () => {
    const connections = new Map([
      ['buil_a', new Set(['read:photos'])],
      ['buil_b', new Set(['read:timesheets'])],
    ]);
    const audience = { internal: false, scopes: new Set(['read:photos', 'read:timesheets']), connections };
    const filter = new EventFilter(audience, { types: null, builderIds: null });
    const seen = ['photo.updated', 'timesheet.updated'].flatMap((type) =>
      ['buil_a', 'buil_b'].filter((id) => filter.includes({ type, builderId: id })).map((id) => `${type} ${id}`),
    );
    expect(seen).toEqual(['photo.updated buil_a', 'timesheet.updated buil_b']);
  });

  it('are none without the scope of a resource', async () => {
    expect(await readEvents(await service.tokenOf('A', ['write:meetings']))).toEqual([]);
  });

  it('are those of the one builder of a user’s token', async () => {
    const user = service.findDemoUser(({ builderIds }) => builderIds.includes(builderId));
    const { clientId } = service.findDemoClient('A');
    const token = await service.createToken({ clientId, scope: 'read:timesheets', userId: user.id, builderId });
    const seen = await readEvents(token);
    expect(seen.length).toBeGreaterThan(0);
    for (const event of seen) expect(event.builderId).toBe(builderId);
  });
});
