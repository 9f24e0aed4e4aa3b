import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Statement } from '../../src/database/pool/pg-pipeline.ts';
import { connectWithSettings, READER_SETTINGS } from '../../src/database/pool/session-settings.ts';
import { TYPE_SCOPES } from '../../src/domain/webhooks/delivery/active-endpoints.ts';
import { useService } from '../support/harness.ts';

const HISTORY = 6_000;

const service = useService();
let client: pg.Client;
let endpointId: string;
let builderId: string;

/** Deliveries whose ids increase with `from`. */
const addDeliveries = (status: string, from: number, count: number) =>
  client.query(
    `insert into webhook_delivery (id, endpoint_id, event_id, type, builder_id, number, record_id, occurred_at, status, attempts, created_at)
     select 'whd_' || to_char(n, 'FM000000'), $1, 'evt_' || n, 'project.updated', $2, 0, 'proj_x', now(), $3, 1, now()
     from generate_series($4::int, $4::int + $5::int - 1) n`,
    [endpointId, builderId, status, from, count],
  );

beforeAll(async () => {
  builderId = service.findDemoClient('A').builderIds[0]!;
  client = await connectWithSettings(service.databases.au1.url, READER_SETTINGS);
  const headers = { authorization: `Bearer ${await service.tokenOf('A')}` };
  const payload = { url: 'http://127.0.0.1:9/hook', types: ['project.updated'] };
  endpointId = (await service.request({ method: 'POST', url: '/webhook-endpoints', headers, payload })).json().id;
  await addDeliveries('PENDING', 1, 2);
  await addDeliveries('DELIVERED', 3, 2);
  await addDeliveries('FAILED', 5, HISTORY);
  await client.query('analyze webhook_delivery');
});

afterAll(() => client?.end());

async function list(query: string) {
  const response = await service.get(
    `/webhook-endpoints/${endpointId}/deliveries?${query}`,
    await service.tokenOf('A'),
  );
  const { data, meta } = response.json();
  return { ids: data.map(({ id }: { id: string }) => id) as string[], nextCursor: meta.nextCursor as string | null };
}

/** Rows of deliveries that the statement of a query reads, including those that do not match. */
async function countRows(query: string): Promise<number> {
  const recorded: Statement[] = [];
  const removeListener = service.databases.au1.onStatement((statement) => recorded.push(statement));
  await list(query);
  removeListener();
  const { text } = recorded.find(({ name }) => name.startsWith('webhooks.deliveries'))!;
  await client.query(`prepare read as ${text}`);
  const { rows } = await client.query(
    `explain (analyze, format json) execute read('{${endpointId}}', 'x', 26, ${pg.escapeLiteral(TYPE_SCOPES)})`,
  );
  await client.query('deallocate read');
  const count = (node: Record<string, unknown>): number => {
    const own =
      node['Relation Name'] === 'webhook_delivery'
        ? Number(node['Actual Rows']) * Number(node['Actual Loops']) + Number(node['Rows Removed by Filter'] ?? 0)
        : 0;
    return ((node.Plans as Record<string, unknown>[]) ?? []).reduce((sum, child) => sum + count(child), own);
  };
  return count(rows[0]['QUERY PLAN'][0].Plan);
}

describe('GET /webhook-endpoints/{id}/deliveries', () => {
  it('returns those of a status without reading the others (WHK-12)', async () => {
    expect(await list('status=PENDING')).toEqual({ ids: ['whd_000002', 'whd_000001'], nextCursor: null });
    expect(await countRows('status=PENDING')).toBe(2);
  });

  it('reads about as many as a page has (WHK-12)', async () => {
    expect((await list('')).ids).toHaveLength(25);
    expect(await countRows('')).toBeLessThan(30);
    expect(await countRows('status=FAILED')).toBeLessThan(30);
  });

  it.each([
    ['of another status', 'status=DELIVERED', ['whd_000004', 'whd_000003']],
    ['that the client may not read any more', '', ['whd_000004', 'whd_000003', 'whd_000002', 'whd_000001']],
  ])('passes over at most 5,000 %s, and goes on after them (WHK-7, WHK-12)', async (_, query, ids) => {
    await client.query(`update webhook_delivery set builder_id = 'buil_revoked' where status = 'FAILED'`);
    expect(await list(query)).toEqual({ ids: [], nextCursor: 'whd_001005' });
    expect(await countRows(query)).toBe(5_000);
    expect(await list(`${query}&after=whd_001005`)).toEqual({ ids, nextCursor: null });
  });
});
