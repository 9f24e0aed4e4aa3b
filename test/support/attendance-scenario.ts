import type { GateEvent } from '../../sdk/src/gate/queue.ts';
import type { Database } from '../../src/database/database.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const FIRST_DAY = Date.parse('2026-04-01T00:00:00.000Z');

/** A visit that took place. */
export interface ExpectedVisit {
  workerId: string;
  signedOnAt: string;
  signedOffAt: string | null;
}

/** Returns visits of every worker and the events that gates record for them. Every tenth worker is still on site. */
export function createAttendanceScenario(
  workers: string[],
  eventCount: number,
): { visits: ExpectedVisit[]; events: GateEvent[] } {
  const visits: ExpectedVisit[] = [];
  const events: GateEvent[] = [];
  const ended = Math.floor(eventCount / 2 / workers.length);
  workers.forEach((workerId, at) => {
    for (let visit = 0; visit < ended + (at % 10 === 0 ? 1 : 0); visit++) {
      const start = FIRST_DAY + visit * DAY + at * 1_001;
      const signedOnAt = new Date(start).toISOString();
      const signedOffAt = visit < ended ? new Date(start + 8 * HOUR).toISOString() : null;
      visits.push({ workerId, signedOnAt, signedOffAt });
      const on = `on-${at}-${visit}`;
      events.push({ sourceEventId: on, workerId, type: 'SIGN_ON', occurredAt: signedOnAt });
      if (signedOffAt === null) continue;
      const end = { workerId, type: 'SIGN_OFF' as const, occurredAt: signedOffAt };
      events.push({ sourceEventId: `off-${at}-${visit}`, sourceSignOnEventId: on, ...end });
    }
  });
  return { visits, events };
}

/** Adds that many workers who may enter the site, and returns their ids. */
export async function addGateWorkers(
  database: Database,
  { builderId, projectId }: { builderId: string; projectId: string },
  count: number,
): Promise<string[]> {
  const em = database.fork();
  const rows = (await em.execute(
    `insert into worker (id, created_at, updated_at, builder_id, subcontractor_id, full_name)
      select 'wkr_gate' || n, now(), now(), s.builder_id, s.id, 'Worker ' || n
      from generate_series(1, ?) n, (select id, builder_id from subcontractor where builder_id = ? limit 1) s
      returning id`,
    [count, builderId],
  )) as { id: string }[];
  await em.execute(
    `insert into site_access (builder_id, worker_id, project_id, granted_at)
      select builder_id, id, ?, now() from worker where id like 'wkr_gate%'`,
    [projectId],
  );
  return rows.map(({ id }) => id);
}

/** Returns a description of each difference between the database and the expected visits and events; none when all are stored once. */
export async function findAttendanceDifferences(
  database: Database,
  stays: ExpectedVisit[],
  events: GateEvent[],
): Promise<string[]> {
  const em = database.fork();
  const found = (await em.execute(
    `select worker_id as "workerId", signed_on_at as "on", signed_off_at as "off", closed_at, archived_at, anomaly
      from sign_on_visit where worker_id like 'wkr_gate%'`,
  )) as { workerId: string; on: string; off: string | null }[];
  const text = (workerId: string, on: string, off: string | null) =>
    `${workerId} ${Date.parse(on)} ${off && Date.parse(off)}`;
  const differences = findDifferences(
    'visit',
    stays.map(({ workerId, signedOnAt, signedOffAt }) => text(workerId, signedOnAt, signedOffAt)),
    found.map(({ workerId, on, off }) => text(workerId, on, off)),
  );
  const kept = (await em.execute(
    `select source_event_id || ' ' || status as event from sign_on_event where worker_id like 'wkr_gate%'`,
  )) as { event: string }[];
  const expected = events.map(({ sourceEventId }) => `${sourceEventId} APPLIED`);
  differences.push(
    ...findDifferences(
      'event',
      expected,
      kept.map(({ event }) => event),
    ),
  );
  const refused = (await em.execute(
    `select source_event_id || ' ' || code as conflict from sign_on_conflict where worker_id like 'wkr_gate%'`,
  )) as { conflict: string }[];
  differences.push(...refused.map(({ conflict }) => `conflict ${conflict}`));
  return differences;
}

function findDifferences(what: string, expected: string[], found: string[]): string[] {
  const rest = new Map<string, number>();
  for (const one of expected) rest.set(one, (rest.get(one) ?? 0) + 1);
  for (const one of found) rest.set(one, (rest.get(one) ?? 0) - 1);
  return [...rest]
    .filter(([, count]) => count !== 0)
    .map(([one, count]) => `${what} ${one} ${count > 0 ? 'is missing' : 'is one too many'}`);
}
