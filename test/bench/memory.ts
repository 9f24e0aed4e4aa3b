import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadRequest } from './load.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { selectedWorks } from './works.ts';

const CONNECTIONS = 32;
const REQUESTS = 100_000;
/** Of each work, in the mix; and of each dashboard, which people look at and gates do not. */
const VARIANTS = 20;
const DASHBOARDS = 2;

/** Milliseconds after which V8 has returned what only the start needed. */
const REST_MS = 15_000;

/** Node's options of `npm start`. */
function startOptions(): string[] {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: { start: string } };
  return scripts.start.split(' ').filter((word) => word.startsWith('--'));
}

/** Resident memory of the service, started as by `npm start`: at rest, after its first request, and after many of every work in turn. */
export async function memory(stage: Stage, options: Options): Promise<void> {
  await stage.prepare(options.timesheets);
  const works = selectedWorks(stage.data, stage.tokens, options);
  const ours = await stage.startOurs(startOptions());
  await sleep(REST_MS);
  const atRest = await ours.residentMib();
  const [first] = works[0]!.requests;
  const answer = await fetch(`${ours.origin}${first!.path}`, first);
  if (!answer.ok) throw new Error(`The first request was answered with ${answer.status}.`);
  await answer.arrayBuffer();
  const afterFirst = await ours.residentMib();
  const amount = options.requests ?? REQUESTS;
  say(`Sending ${amount} mixed requests.`);
  const mix: LoadRequest[] = works.flatMap(({ requests, postgraphile }) =>
    Array.from({ length: postgraphile ? DASHBOARDS : VARIANTS }, (_, n) => requests[n % requests.length]!),
  );
  const order = { origin: ours.origin, requests: mix, connections: CONNECTIONS, seconds: 0, amount };
  const { requests, failures } = await stage.generator().run(order);
  if (failures > 0) throw new Error(`${failures} requests failed.`);
  const afterMany = await ours.residentMib();
  const figures = { requests, residentMib: { atRest, afterFirst, afterMany } };
  const mib = (value: number) => `${value.toFixed(0)} MiB`;
  const text = `
Resident memory: ${mib(atRest)} at rest, ${mib(afterFirst)} after the first request, ${mib(afterMany)} after ${requests} mixed requests.
`;
  await publish(options, figures, text);
}
