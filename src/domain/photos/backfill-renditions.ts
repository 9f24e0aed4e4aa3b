import type { Database } from '../../database/database.ts';
import type { Statement } from '../../database/pool/pg-pipeline.ts';

const BATCH_SIZE = 10_000;

/** Makes a batch of photos pending, in the order of their ids: those without a state, and with `$2` those that failed or are tried later. */
const QUEUE: Statement = {
  name: 'renditions.queue',
  text: `with batch as (select id, integrator_id, builder_id from photo where id > $1 order by id limit ${BATCH_SIZE}),
    queued as (insert into photo_rendition as r (photo_id, share_key) select id, coalesce(integrator_id, builder_id) from batch
      on conflict (photo_id) do update set status = 'PENDING', problem = null, attempts = 0, failures = 0, claimed_until = null
        where $2::boolean and (r.status = 'FAILED' or (r.status = 'PENDING' and r.problem is not null))
      returning 1)
    select max(id), (select count(*) from queued) from batch`,
};

/**
 * Makes the photos of the region pending that have no renditions, so that the jobs of the service render them. Returns their number.
 *
 * @param retry whether photos are tried again that could not be rendered. Their bytes may be there now, or a newer release may read them.
 */
export async function backfillRenditions({ slowRunner }: Database, retry: boolean): Promise<number> {
  let queued = 0;
  for (let after: string | null = ''; after !== null; ) {
    const [row] = await slowRunner.run(QUEUE, [after, retry]);
    after = row![0] ?? null;
    queued += Number(row![1]);
  }
  return queued;
}
