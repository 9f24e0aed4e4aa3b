import { type ChildProcess, fork } from 'node:child_process';
import { getPriority, setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from '../instance.ts';
import { BASE_URL } from '../proof-environment.ts';
import { percentile } from '../statistics.ts';
import type { Attack, AttackOrder, AttackResult } from './attack.ts';
import { Monitor } from './monitor.ts';
import { issueCodes, type Scenario } from './scenario.ts';
import { type Observation, Victim } from './victim.ts';

/** Milliseconds for which the victim is measured after the end of the attack. */
const AFTER_MS = 1_000;
/** Maximum milliseconds that an attack may take to end after its time. */
const GRACE_MS = 20_000;
/**
 * Real attackers use other machines, so that their process must not take processor time from the service and the victim.
 */
const ATTACKER_NICENESS = 10;

export interface Measurement {
  name: string;
  about: string;
  finding: string;
  requests: number;
  failures: Observation[];
  /** Milliseconds of the victim's requests. */
  p50: number;
  p99: number;
  max: number;
  /** P99 of the processor time, in milliseconds, that the service's event loop used during a request of the victim. */
  eventLoopP99: number;
  /** The operation of the slowest request. */
  slowest: string;
  /** Milliseconds of the health check. */
  healthP99: number;
  healthFailures: number;
  /** Peaks of the sum of the processes' resident sizes in MiB, without and with file pages counted once. */
  peakMib: number;
  peakDistinctMib: number;
  /** Serving processes that ended. */
  exits: number;
  /** Responses of the attackers by status. */
  statuses: Record<string, number>;
  megabytes: number;
  problem: string;
}

export interface Run {
  instance: Instance;
  scenario: Scenario;
  /** URL of the database in which authorization codes are issued. */
  databaseUrl: string;
  localAddress: string;
  /** Milliseconds in which the service compiles the code of the victim's requests; not measured. */
  warmUpMs: number;
  /** Duration of the attack. */
  milliseconds: number;
}

const ALONE = { name: 'baseline', about: 'The victim alone', finding: '' };

/** Measures the victim during the attack; without an attack if null. */
export async function measure(run: Run, attack: Attack | null): Promise<Measurement> {
  const { instance, scenario, databaseUrl, localAddress, warmUpMs, milliseconds } = run;
  const { origin, pid } = instance;
  // One code per second, because the victim's rotation uses one and takes a second.
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
  attack ? { name: attack.name, about: attack.about, finding: attack.finding ?? '' } : ALONE;

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
    exits: monitor.exits,
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
