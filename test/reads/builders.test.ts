import { describe, expect, it } from 'vitest';
import { isTimeZone, TimeZone } from '../../schema/time-zone.ts';
import { useService } from '../support/harness.ts';

const service = useService();
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

  it('has the same days in PostgreSQL and Intl, whatever its name (RED-31)', async () => {
    const em = service.databases.au1.fork();
    // Without years for which releases of the IANA database differ.
    const instants = [1985, 1996, 2007, 2016, 2021, 2025].flatMap((year) =>
      [0, 3, 6, 9].map((month) => Date.UTC(year, month, 15, 10, 30)),
    );
    const rows = await em.execute<{ name: string }[]>('select name from pg_timezone_names');
    const zones = rows.map(({ name }) => name).filter(isTimeZone);
    const differing: string[] = [];
    for (const zone of zones) {
      const [{ shown }] = await em.execute<[{ shown: string[] }]>(
        `select array_agg(to_char(timezone(?, to_timestamp(at)), 'YYYY-MM-DD HH24:MI:SS') order by place) as shown
          from unnest(array[${instants.map((instant) => instant / 1000)}]) with ordinality as u (at, place)`,
        [TimeZone.parseValue(zone)],
      );
      const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium', timeZone: zone });
      if (instants.some((instant, place) => format.format(instant) !== shown[place])) differing.push(zone);
    }
    expect(zones).toContain('CET');
    expect(differing).toEqual([]);
  });

  it('is in no response of REST (RED-30)', async () => {
    const token = await service.tokenOf('A');
    const [id] = service.findDemoClient('A').builderIds;
    const list = await service.get('/builders', token);
    expect(Object.keys(list.json().data[0])).not.toContain('timeZone');
    expect(Object.keys((await service.get(`/builders/${id}`, token)).json())).not.toContain('timeZone');
  });
});
