import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { publishFigures } from './publish-figures.ts';
import { selectWorkloads } from './workloads.ts';

const WARM_UP_SECONDS = 3;
const INTERVAL_MICROSECONDS = 200;
const ROWS = 25;

/** A CPU profile of V8: the call tree, and the ids of the sampled nodes. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  /** In microseconds, as `timeDeltas`. */
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

/** Profiles the service under load and reports its self time by package or folder and by function. */
export async function profileService(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  await environment.prepare(options.timesheets);
  const workloads = selectWorkloads(environment.data, environment.tokens, options);
  const requests = workloads.flatMap((workload) => workload.requests);
  const folder = join(environment.dataDir, 'profile');
  const startedAt = performance.now();
  const service = await environment.startService([
    ...['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${INTERVAL_MICROSECONDS}`],
  ]);
  const generator = environment.createLoadGenerator();
  const load = { origin: service.origin, requests, connections: options.connections[0]! };
  await generator.run({ ...load, seconds: WARM_UP_SECONDS });
  const measuredFrom = performance.now() - startedAt;
  const result = await generator.run({ ...load, seconds: options.seconds });
  const measuredUntil = performance.now() - startedAt;
  logProgress(
    `${result.requestsPerSecond.toFixed(0)} requests a second under the profiler, ${result.failures} failures.`,
  );
  await service.stop();
  const [file] = await readdir(folder);
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(
    await readFile(join(folder, file!), 'utf8'),
  ) as CpuProfile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const timeByModule = new Map<string, number>();
  const timeByFunction = new Map<string, number>();
  const add = (map: Map<string, number>, name: string, time: number) => map.set(name, (map.get(name) ?? 0) + time);
  let clock = startTime;
  let total = 0;
  for (const [index, id] of samples.entries()) {
    clock += timeDeltas[index]!;
    const milliseconds = (clock - startTime) / 1000;
    const frame = frames.get(id)!;
    if (milliseconds < measuredFrom || milliseconds > measuredUntil || frame.functionName === '(idle)') continue;
    // A sample represents the time until the next sample.
    const time = timeDeltas[index + 1] ?? 0;
    total += time;
    add(timeByModule, toModuleName(frame), time);
    add(
      timeByFunction,
      `${frame.functionName || '(anonymous)'} ${shortenUrl(frame.url)}:${frame.lineNumber + 1}`,
      time,
    );
  }
  const toRows = (map: Map<string, number>) =>
    [...map]
      .sort(([, one], [, other]) => other - one)
      .slice(0, ROWS)
      .map(([name, time]) => ({ name, share: time / total, microseconds: time / result.requests }));
  const figures = { requests: result.requests, microseconds: total / result.requests };
  const places = toRows(timeByModule);
  const functions = toRows(timeByFunction);
  const toProfileTable = (title: string, list: typeof places) =>
    toMarkdownTable(
      [title, 'share', 'µs per request'],
      list.map(({ name, share, microseconds }) => [name, `${(share * 100).toFixed(1)} %`, microseconds.toFixed(1)]),
    );
  const text = `
${figures.microseconds.toFixed(0)} µs of the service's process per request, self time:

${toProfileTable('package or folder', places)}

${toProfileTable('function', functions)}
`;
  await publishFigures(options, { ...figures, places, functions }, text);
}

type Frame = CpuProfile['nodes'][number]['callFrame'];

/** Returns the package, the folder of this project or the Node module of a frame. Frames without a file are native or generated code. */
function toModuleName({ url, functionName, lineNumber }: Frame): string {
  if (url === '' && lineNumber >= 0) return 'generated code (makers of answers and of rows)';
  if (url === '') return functionName.startsWith('(') ? functionName : `native ${functionName}`;
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const packages = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)];
  if (packages.length > 0) return packages.at(-1)![1]!;
  const projectPath = /\/dist\/(.+)$/.exec(url)?.[1] ?? url;
  return projectPath.split('/').slice(0, -1).slice(0, 2).join('/') || projectPath;
}

const shortenUrl = (url: string) => url.replace(/^.*node_modules\//, '').replace(/^.*\/dist\//, '');
