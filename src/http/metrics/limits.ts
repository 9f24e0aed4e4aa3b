import type { RateLimiter } from '../../auth/rate-limiter.ts';
import { decodeCounts } from '../../images/decode.ts';
import { renderCounts } from '../../images/render.ts';
import type { FairShares } from '../../limits/fair-shares.ts';
import { REGIONS } from '../../shared/regions.ts';
import type { Storages } from '../../storage/storage.ts';
import type { LargeBodyParser } from '../bodies/large-body-parser.ts';
import { collectCounter, collectDurations, collectGauge, type Sample } from './collected.ts';

/** Registers the metrics of rate limits and of the limits that callers share. */
export function observeLimits(budgets: readonly RateLimiter[], shares: FairShares): void {
  collectCounter({
    name: 'rate_limit_rejections_total',
    help: 'Requests that were rejected because a rate limit was used up.',
    labelNames: ['budget'],
    collect: () => budgets.map(({ name, rejections }): Sample => [{ budget: name }, rejections]),
  });
  const limits = Object.values(shares);
  collectCounter({
    name: 'share_rejections_total',
    help: 'Requests that were rejected because a share, or the service, had no capacity left.',
    labelNames: ['limit', 'reason'],
    collect: () =>
      limits.flatMap((limit): Sample[] => {
        const { rejectedByShare, rejectedByService } = limit.stats();
        return [
          [{ limit: limit.name, reason: 'share' }, rejectedByShare],
          [{ limit: limit.name, reason: 'service' }, rejectedByService],
        ];
      }),
  });
  collectGauge({
    name: 'share_used_ratio',
    help: 'Part of the capacity of a limit that is in use, from 0 to 1.',
    labelNames: ['limit'],
    aggregator: 'max',
    collect: () => limits.map((limit): Sample => [{ limit: limit.name }, limit.stats().used / limit.capacity]),
  });
  collectGauge({
    name: 'share_queued',
    help: 'Requests that wait for capacity of a limit.',
    labelNames: ['limit'],
    collect: () => limits.map((limit): Sample => [{ limit: limit.name }, limit.stats().queued]),
  });
}

/** Registers the metrics of large bodies, image decodes and the store. */
export function observeWork({ parsed }: LargeBodyParser, storages: Storages): void {
  collectCounter({
    name: 'parsed_bodies_total',
    help: 'JSON bodies of routes that accept large ones, by where they were parsed.',
    labelNames: ['thread'],
    collect: () => [
      [{ thread: 'event_loop' }, parsed.eventLoop],
      [{ thread: 'worker' }, parsed.thread],
    ],
  });
  const decode = { name: 'image_decode', what: 'decodes of images', labelNames: ['size'] };
  collectDurations(decode, () => [[{}, decodeCounts]]);
  const render = { name: 'photo_render', what: 'renderings of photos', labelNames: ['type'] };
  collectDurations(render, () => [[{}, renderCounts]]);
  collectDurations(
    { name: 'storage_operation', what: 'operations of the store', labelNames: ['region', 'operation'] },
    () => REGIONS.map((region) => [{ region }, storages[region].byteStore.operations!] as const),
  );
}
