import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isTimeZone } from '../../schema/time-zone.ts';
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

  it('may be every name that PostgreSQL and Intl know, and no other (RED-31)', async () => {
    const rows = await service.databases.au1
      .fork()
      .execute<{ name: string }[]>(`select name from pg_timezone_names where name !~ '^(posix|right)'`);
    const known = new Set(rows.map(({ name }) => name));
    const isInIntl = (timeZone: string) => {
      try {
        return new Intl.DateTimeFormat('en', { timeZone }).format(0) !== '';
      } catch {
        return false;
      }
    };
    expect([...known].filter((name) => isTimeZone(name) !== isInIntl(name))).toEqual([]);
    expect(known.size).toBeGreaterThan(550);
    for (const name of ['Asia/Kolkata', 'Asia/Calcutta', 'Europe/Kyiv', 'Etc/UTC', 'Australia/Canberra', 'EST5EDT']) {
      expect(isTimeZone(name), name).toBe(true);
    }
    const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
    const codes = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
    const others = ['SystemV/PST8', 'US/Pacific-New', 'Canada/East-Saskatchewan', 'Factory', 'GMT+10', 'Z', '+10:00'];
    expect([...codes, ...others].filter((name) => !known.has(name) && isTimeZone(name))).toEqual([]);
  });

  it('is in no response of REST (RED-30)', async () => {
    const token = await service.tokenOf('A');
    const [id] = service.findDemoClient('A').builderIds;
    const list = await service.get('/builders', token);
    expect(Object.keys(list.json().data[0])).not.toContain('timeZone');
    expect(Object.keys((await service.get(`/builders/${id}`, token)).json())).not.toContain('timeZone');
  });
});
