import pg from 'pg';
import { toIdExpression } from './builder-data.ts';
import type { LoadRequest } from './load-generator-program.ts';

/** Time zone of the builder. */
export const TIME_ZONE = 'Australia/Sydney';

/** Days with visits before today: the pages compare a day with those of the last eight weeks. */
const DAYS = 56;

/**
 * The attendance of one builder that the pages of the console show. Each worker with access to a site has visited it on each day of eight
 * weeks and is signed on today. Measured sign-ons are added to today and deleted after each measurement: a minute of sign-ons at full rate
 * is as many as the builder has in half a year.
 */
export class ConsoleAttendance {
  readonly #client: pg.Client;
  readonly #builderId: string;

  private constructor(client: pg.Client, builderId: string) {
    this.#client = client;
    this.#builderId = builderId;
  }

  /** Inserts the visits of a builder. */
  static async load(url: string, builderId: string): Promise<ConsoleAttendance> {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    const attendance = new ConsoleAttendance(client, builderId);
    await attendance.#insertVisits();
    await attendance.#vacuum();
    return attendance;
  }

  async #insertVisits(): Promise<void> {
    const values = [this.#builderId, TIME_ZONE, DAYS];
    await this.#client.query(
      `insert into sign_on_visit (id, created_at, updated_at, builder_id, project_id, worker_id, signed_on_at, signed_off_at)
        select ${toIdExpression('signon', 'n')}, at, at, $1, project_id, worker_id, at, case when day > 0 then at + interval '8 hours' end
        from (select project_id, worker_id, day, row_number() over () as n,
            date_trunc('day', now(), $2) - day * interval '1 day' + row_number() over (partition by day) * interval '1 second' as at
          from site_access cross join generate_series(0, $3::int) day where builder_id = $1) visit`,
      values,
    );
    await this.#client.query(
      `insert into sign_on_event (id, created_at, updated_at, integrator_id, builder_id, project_id, worker_id, source_event_id, type,
          occurred_at, device_id, status, visit_id)
        select ${toIdExpression('saevt', 'row_number() over ()')}, created_at, created_at, 'intg_bench', builder_id, project_id, worker_id,
          'morning-' || row_number() over (), 'SIGN_ON', signed_on_at, 'gate 1', 'APPLIED', id
        from sign_on_visit where builder_id = $1 and signed_off_at is null`,
      [this.#builderId],
    );
  }

  /** Returns requests for sign-ons at all sites of the builder. */
  async createSignOnRequests(headers: LoadRequest['headers'], variants: number): Promise<LoadRequest[]> {
    const { rows } = await this.#client.query<{ project_id: string; worker_id: string }>(
      'select project_id, worker_id from site_access where builder_id = $1 order by md5(worker_id || project_id) limit $2',
      [this.#builderId, variants],
    );
    const occurredAt = new Date().toISOString();
    return rows.map(({ project_id, worker_id }) => ({
      method: 'POST',
      path: `/builders/${this.#builderId}/projects/${project_id}/sign-on-events`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        sourceEventId: 'gate-[<id>]',
        workerId: worker_id,
        type: 'SIGN_ON',
        occurredAt,
        deviceId: 'gate 2',
      }),
    }));
  }

  /** Deletes the measured sign-ons. */
  async reset(): Promise<void> {
    await this.#client.query(`with event as (delete from sign_on_event where source_event_id like 'gate-%' returning visit_id)
      delete from sign_on_visit using event where id = visit_id`);
    await this.#vacuum();
  }

  async #vacuum(): Promise<void> {
    await this.#client.query('vacuum analyze sign_on_visit, sign_on_event');
  }

  close(): Promise<void> {
    return this.#client.end();
  }
}
