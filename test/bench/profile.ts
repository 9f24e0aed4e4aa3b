import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';
import { selectedWorks } from './works.ts';

const WARM_UP_SECONDS = 3;
const INTERVAL_MICROSECONDS = 200;
const ROWS = 25;

/** What V8 writes: the call tree, and which node was seen at each moment. */
interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number } }[];
  /** Microseconds of the same clock as `timeDeltas`. */
  startTime: number;
  samples: number[];
  timeDeltas: number[];
}

/** Where the service's own processor time goes under load, by package and folder, then by function. */
export async function profile(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const works = selectedWorks(stage.data, stage.tokens, options);
  const requests = works.flatMap((work) => work.requests);
  const folder = join(stage.dataDir, 'profile');
  const started = performance.now();
  const ours = await stage.startOurs([
    ...['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-interval=${INTERVAL_MICROSECONDS}`],
  ]);
  const generator = stage.generator();
  const order = { origin: ours.origin, requests, connections: options.connections[0]! };
  await generator.run({ ...order, seconds: WARM_UP_SECONDS });
  const from = performance.now() - started;
  const result = await generator.run({ ...order, seconds: options.seconds });
  const until = performance.now() - started;
  say(`${result.requestsPerSecond.toFixed(0)} requests a second under the profiler, ${result.failures} failures.`);
  await ours.stop();
  const [file] = await readdir(folder);
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(
    await readFile(join(folder, file!), 'utf8'),
  ) as CpuProfile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byPlace = new Map<string, number>();
  const byFunction = new Map<string, number>();
  const add = (map: Map<string, number>, name: string, time: number) => map.set(name, (map.get(name) ?? 0) + time);
  let clock = startTime;
  let total = 0;
  for (const [at, id] of samples.entries()) {
    clock += timeDeltas[at]!;
    const milliseconds = (clock - startTime) / 1000;
    const frame = frames.get(id)!;
    if (milliseconds < from || milliseconds > until || frame.functionName === '(idle)') continue;
    // A sample stands for the time until the next.
    const time = timeDeltas[at + 1] ?? 0;
    total += time;
    add(byPlace, placeOf(frame), time);
    add(byFunction, `${frame.functionName || '(anonymous)'} ${shortUrl(frame.url)}:${frame.lineNumber + 1}`, time);
  }
  const rows = (map: Map<string, number>) =>
    [...map]
      .sort(([, one], [, other]) => other - one)
      .slice(0, ROWS)
      .map(([name, time]) => ({ name, share: time / total, microseconds: time / result.requests }));
  const figures = { requests: result.requests, microseconds: total / result.requests };
  const places = rows(byPlace);
  const functions = rows(byFunction);
  const show = (title: string, list: typeof places) =>
    markdown(
      [title, 'share', 'µs per request'],
      list.map(({ name, share, microseconds }) => [name, `${(share * 100).toFixed(1)} %`, microseconds.toFixed(1)]),
    );
  const text = `
${figures.microseconds.toFixed(0)} µs of the service's process per request, self time:

${show('package or folder', places)}

${show('function', functions)}
`;
  await publish(options, { ...figures, places, functions }, text);
}

type Frame = CpuProfile['nodes'][number]['callFrame'];

/** Package, or folder of ours, or part of Node; what has no file is V8's own, native, or made while the service runs. */
function placeOf({ url, functionName, lineNumber }: Frame): string {
  if (url === '' && lineNumber >= 0) return 'generated code (makers of answers and of rows)';
  if (url === '') return functionName.startsWith('(') ? functionName : `native ${functionName}`;
  if (url.startsWith('node:')) return url.split('/').slice(0, 2).join('/');
  const packages = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)];
  if (packages.length > 0) return packages.at(-1)![1]!;
  const own = /\/dist\/(.+)$/.exec(url)?.[1] ?? url;
  return own.split('/').slice(0, -1).slice(0, 2).join('/') || own;
}

const shortUrl = (url: string) => url.replace(/^.*node_modules\//, '').replace(/^.*\/dist\//, '');
