import { type ChildProcess, fork } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { percentile } from '../exchange.ts';
import type { Instance } from '../instance.ts';
import { BASE_URL } from '../site.ts';
import type { Attack, AttackOrder, AttackResult } from './attack.ts';
import { Monitor } from './monitor.ts';
import { issueCodes, type Scenario } from './scenario.ts';
import { type Observation, Victim } from './victim.ts';

/** The victim's requests after the attack has ended. */
const AFTER_MS = 1_000;
/** How much longer than its time an attack may take to end. */
const GRACE_MS = 20_000;
/**
 * The attackers' machine is another one in reality: their process must not take the processor from the service and the victim
 * by being scheduled before them.
 */
const ATTACKER_NICENESS = 10;

export interface Measurement {
  name: string;
  about: string;
  row: string;
  requests: number;
  failures: Observation[];
  /** Milliseconds of the victim's requests. */
  p50: number;
  p99: number;
  max: number;
  /** The p99 of the processor time that the service's event loop used while a request waited for its response. */
  eventLoopP99: number;
  /** The operation of the slowest request. */
  slowest: string;
  /** Milliseconds of the health check. */
  healthP99: number;
  healthFailures: number;
  /** Peaks of the sum of the processes' resident sizes, and of that with the pages of files counted once. */
  peakMib: number;
  peakDistinctMib: number;
  /** Serving processes that ended. */
  deaths: number;
  /** What the attacker received, by status. */
  statuses: Record<string, number>;
  megabytes: number;
  problem: string;
}

export interface Run {
  instance: Instance;
  scenario: Scenario;
  /** Of the region's database, where codes are issued. */
  databaseUrl: string;
  localAddress: string;
  /** In which the service loads and compiles what the victim needs; not measured. */
  warmUpMs: number;
  /** Of the attack. */
  milliseconds: number;
}

const ALONE = { name: 'baseline', about: 'The victim alone', row: '' };

/** Measures the victim while the attack runs, or alone. */
export async function measure(run: Run, attack: Attack | null): Promise<Measurement> {
  const { instance, scenario, databaseUrl, localAddress, warmUpMs, milliseconds } = run;
  const { origin, pid } = instance;
  // One code for each second: each turn of the victim's rotation takes that long.
  const codes = await issueCodes(databaseUrl, scenario.victim, 2 * Math.ceil((milliseconds + GRACE_MS) / 1000));
  const monitor = new Monitor(pid, origin);
  const eventLoopTimes = () => monitor.eventLoopTimes();
  const account = scenario.victim;
  const victim = await Victim.create({ origin, account, baseUrl: BASE_URL, localAddress, codes, eventLoopTimes });
  victim.start();
  await sleep(warmUpMs);
  victim.takeObservations();
  monitor.reset();
  const result = attack
    ? await runAttack({ name: attack.name, origin, baseUrl: BASE_URL, scenario, milliseconds })
    : await rest(milliseconds);
  await sleep(AFTER_MS);
  await victim.stop();
  await monitor.stop();
  return { ...summarize(victim.takeObservations(), monitor), ...describe(attack), ...result };
}

const describe = (attack: Attack | null) =>
  attack ? { name: attack.name, about: attack.about, row: attack.row ?? '' } : ALONE;

async function rest(milliseconds: number): Promise<AttackResult> {
  await sleep(milliseconds);
  return { statuses: {}, megabytes: 0, problem: '' };
}

function summarize(observations: Observation[], monitor: Monitor) {
  const times = observations.map(({ milliseconds }) => milliseconds);
  const slowest = observations.toSorted((one, other) => other.milliseconds - one.milliseconds)[0];
  const loopTimes = observations.map(({ eventLoopMs }) => eventLoopMs);
  return {
    requests: observations.length,
    failures: observations.filter(({ problem }) => problem !== ''),
    ...{ p50: percentile(times, 50), p99: percentile(times, 99), max: Math.round(slowest?.milliseconds ?? 0) },
    ...{ eventLoopP99: percentile(loopTimes, 99), slowest: slowest?.operation ?? '' },
    ...{ healthP99: percentile(monitor.healthTimes, 99), healthFailures: monitor.healthFailures },
    ...{ peakMib: Math.round(monitor.peakMib), peakDistinctMib: Math.round(monitor.peakDistinctMib) },
    deaths: monitor.deaths,
  };
}

const processes = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of processes) child.kill('SIGKILL');
});

async function runAttack(order: AttackOrder): Promise<AttackResult> {
  const child = fork(new URL('./attack-process.js', import.meta.url), { execArgv: ['--max-old-space-size=4096'] });
  processes.add(child);
  setPriority(child.pid!, Math.min(19, getPriority() + ATTACKER_NICENESS));
  const failed = (problem: string): AttackResult => ({ statuses: {}, megabytes: 0, problem });
  try {
    return await new Promise<AttackResult>((resolve) => {
      const timer = setTimeout(() => resolve(failed('The attack did not end.')), order.milliseconds + GRACE_MS);
      child.once('message', (result: AttackResult) => {
        clearTimeout(timer);
        resolve(result);
      });
      child.once('exit', (code) => {
        clearTimeout(timer);
        resolve(failed(`The attacker's process ended with ${code}.`));
      });
      child.send(order);
    });
  } finally {
    child.kill('SIGKILL');
    processes.delete(child);
  }
}
