import { setTimeout as sleep } from 'node:timers/promises';
import type { Snapshot } from '../../entities/snapshot.entity.ts';
import { SCOPES } from '../../schema/scopes.ts';
import { type BenchEnvironment, createMigratedDatabase, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { BUILDERS, loadGrowthData } from './growth-data.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { publishFigures } from './publish-figures.ts';
import { readStartOptions } from './start-options.ts';

/** A quarter are those of the builder of the snapshot. */
const TIMESHEETS = 10_000_000;
const PERIOD = { begin: '2022-01-03', days: 1825 };
/** Pages that are measured of paging by cursor. */
const PAGES = 2_000;
const MAX_GROWTH_MIB = 60;
/** Time after which V8 has released the memory that only the start needs. */
const IDLE_MS = 15_000;
const SAMPLE_MS = 200;

/**
 * Measures a snapshot of 2,500,000 timesheets: memory of a process that is started as by `npm start`, duration and bytes, and a small request
 * beside it; and pages by cursor.
 */
export async function measureSnapshot(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  const timesheets = Math.max(BUILDERS, Math.floor(TIMESHEETS / options.shrink));
  const cluster = await environment.openCluster(options.data);
  const name = `snapshot_timesheets${options.shrink === 1 ? '' : `_${options.shrink}`}`;
  environment.urls = {
    au1: await createMigratedDatabase(cluster, name),
    us1: await createMigratedDatabase(cluster, 'snapshot_empty'),
  };
  const size = { timesheets, photos: BUILDERS, visits: BUILDERS };
  const { builderId } = await loadGrowthData(environment.urls.au1, size, PERIOD);
  const service = await environment.startService(readStartOptions());
  const token = environment.signRegionalTokens('cli_bench', SCOPES).au1;
  let received = 0;
  const call = async (path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${token}`,
      'x-service-builder-id': builderId,
      ...(body && { 'content-type': 'application/json' }),
    };
    const method = body ? 'POST' : 'GET';
    const response = await fetch(service.origin + path, { method, headers, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    received += text.length;
    return JSON.parse(text);
  };
  /** Calls `GET /builders` every few milliseconds until it is done. Returns the times in milliseconds. */
  const measureRequests = async (isDone: () => boolean): Promise<number[]> => {
    const times: number[] = [];
    while (!isDone() || times.length < 100) {
      const startedAt = performance.now();
      await call('/builders?limit=1');
      times.push(performance.now() - startedAt);
      await sleep(5);
    }
    return times.sort((one, other) => one - other);
  };
  const toPercentile = (times: number[]) => times[Math.floor(times.length * 0.99)]!;

  const alone = await measureRequests(() => true);
  await sleep(IDLE_MS);
  const before = await service.readResidentMib();
  let peak = before;
  logProgress(`Writing a snapshot at ${before.toFixed(0)} MiB.`);
  const begunAt = performance.now();
  const { id } = await call('/snapshots', { builderId, resources: ['timesheets'] });
  let snapshot = {} as Snapshot;
  const beside = measureRequests(() => snapshot.status === 'READY');
  while (snapshot.status !== 'READY') {
    await sleep(SAMPLE_MS);
    snapshot = await call(`/snapshots/${id}`);
    if (snapshot.status === 'FAILED') throw new Error('The snapshot has failed.');
    peak = Math.max(peak, await service.readResidentMib());
  }
  const seconds = (performance.now() - begunAt) / 1000;
  const [file] = snapshot.files;
  const { records, bytes } = file!;
  logProgress(`${records} records in ${seconds.toFixed(1)} s.`);

  received = 0;
  const pagesAt = performance.now();
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null && pages < (options.requests ?? PAGES); pages++)
    cursor = (await call(`/timesheets?limit=25&cursor=${cursor}`)).meta.nextCursor;
  const allPages = Math.ceil(records / 25);
  const share = allPages / pages;
  const paging = {
    seconds: ((performance.now() - pagesAt) / 1000) * share,
    bytes: received * share,
    requests: allPages,
  };
  const growthMib = peak - before;
  const p99 = { alone: toPercentile(alone), beside: toPercentile(await beside) };
  const toMib = (count: number) => (count / 1024 ** 2).toFixed(1);
  const rows = [
    ['snapshot', '1', seconds.toFixed(1), toMib(bytes)],
    ['pages by cursor', String(allPages), paging.seconds.toFixed(1), toMib(paging.bytes)],
  ];
  const text = `
${toMarkdownTable(['copy', 'requests', 'seconds', 'MiB'], rows)}

${records} timesheets. The memory of the process grew by ${growthMib.toFixed(0)} MiB, of at most ${MAX_GROWTH_MIB}. The 99th percentile of a small request was
${p99.alone.toFixed(1)} ms before, and ${p99.beside.toFixed(1)} ms beside the snapshot. Pages: the first ${pages}, times ${share.toFixed(0)}.
`;
  await publishFigures(options, { records, seconds, bytes, growthMib, paging, p99 }, text);
  if (growthMib > MAX_GROWTH_MIB) process.exitCode = 1;
}
