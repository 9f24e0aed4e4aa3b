import type pg from 'pg';

/** Repeats `vacuum` until every page is all-visible, which the plans depend on: it skips pages that open transactions changed. */
export async function vacuum(client: pg.Client): Promise<void> {
  for (let left = 1; left > 0; ) {
    await client.query('vacuum analyze');
    const { rows } = await client.query(
      `select count(*)::int as left from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace and relallvisible < relpages`,
    );
    left = rows[0].left;
  }
}
