import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const QUERY = 'query ($id: BuilderId!) { builder(builderId: $id) { timeZone } }';

async function readTimeZone(client: string): Promise<string> {
  const [id] = service.findDemoClient(client).builderIds;
  const headers = { 'x-service-region-id': service.findDemoClient(client).regionId };
  const { data } = await service.graphql(await service.tokenOf(client), QUERY, { id }, headers);
  return data.builder.timeZone;
}

describe("a builder's timeZone", () => {
  it('is that of the region until an operator sets another (RED-30)', async () => {
    const { au1, us1 } = service.databases;
    await us1.fork().execute('update builder set time_zone = null');
    expect([await readTimeZone('A'), await readTimeZone('us1')]).toEqual(['Australia/Sydney', 'America/New_York']);
    const [id] = service.findDemoClient('A').builderIds;
    await au1.fork().execute(`update builder set time_zone = 'Australia/Perth' where id = ?`, [id]);
    expect(await readTimeZone('A')).toBe('Australia/Perth');
  });

  it('is in no response of REST (RED-30)', async () => {
    const token = await service.tokenOf('A');
    const [id] = service.findDemoClient('A').builderIds;
    const list = await service.get('/builders', token);
    expect(Object.keys(list.json().data[0])).not.toContain('timeZone');
    expect(Object.keys((await service.get(`/builders/${id}`, token)).json())).not.toContain('timeZone');
  });
});
