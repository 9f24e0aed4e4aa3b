import pg from 'pg';
import { type Log, ProofEnvironment } from '../proof-environment.ts';
import type { Attack } from './attack.ts';
import { ATTACKS } from './attacks/index.ts';
import { type Measurement, measure } from './measure.ts';
import { createTable, exceedsLimit, findBusyMachine, findProblems, toMedian, writeTable } from './report.ts';
import { prepareScenario } from './scenario.ts';

interface NoisyNeighbourOptions {
  /** Runs a few cases for a few seconds each. */
  short?: boolean;
  /** Names of cases, separated by commas. */
  only?: string;
  /** Seconds of each attack, and of the victim alone. */
  seconds?: string;
  /** Markdown file that receives the table. */
  write?: string;
  log: Log;
}

const FULL = { seconds: 12, baselineSeconds: 20, warmUpMs: 3_000, volume: { timesheets: 300_000, photos: 50_000 } };
const SHORT = { seconds: 3, baselineSeconds: 4, warmUpMs: 2_000, volume: { timesheets: 40_000, photos: 5_000 } };

/** Measurements of a case whose first one exceeds a limit, because other work of the machine may be the cause. */
const ROUNDS = 3;

/** Restores the defaults of production, which other proofs switch off. An empty setting counts as absent. */
const PRODUCTION = { WORKERS: '', RATE_LIMIT_API: '', RATE_LIMIT_SYNC: '', RATE_LIMIT_TOKEN: '', LOG_LEVEL: 'error' };

/**
 * Measures an integrator's ordinary requests during each known attack of another integrator. Each attack runs against a newly started
 * service.
 */
export async function noisyNeighbour({ short = false, only, write, log, ...overrides }: NoisyNeighbourOptions) {
  const defaults = short ? SHORT : FULL;
  const { warmUpMs, volume } = defaults;
  const seconds = Number(overrides.seconds ?? defaults.seconds);
  const baselineSeconds = Number(overrides.seconds ?? defaults.baselineSeconds);
  const attacks = selectAttacks(short, only);
  const environment = await ProofEnvironment.start();
  try {
    log(`Loading ${volume.timesheets} timesheets and records as large as the API accepts.`);
    const urls = {
      DATABASE_URL_AU1: environment.postgres.directUrl('au1'),
      DATABASE_URL_US1: environment.postgres.directUrl('us1'),
    };
    const databaseUrl = urls.DATABASE_URL_AU1;
    const scenario = await prepareScenario(environment, databaseUrl, volume);
    const measurements: Measurement[] = [];
    const problems: string[] = [];
    const run = async (attack: Attack | null, index: number, round: number) => {
      await discardPendingRenditions(databaseUrl);
      const instance = await environment.addInstance({ ...PRODUCTION, ...urls, ...attack?.settings });
      const milliseconds = (attack ? seconds : baselineSeconds) * 1000;
      // Each round uses another address of the victim, because token requests have a budget per address and minute.
      const localAddress = `127.0.${2 + round}.${index + 1}`;
      const measurement = await measure(
        { instance, scenario, databaseUrl, localAddress, warmUpMs, milliseconds },
        attack,
      );
      log(formatLine(measurement, findProblems(measurement)));
      await instance.kill();
      environment.instances.splice(0);
      return measurement;
    };
    for (const [index, attack] of [null, ...attacks].entries()) {
      const rounds = [await run(attack, index, 0)];
      if (attack ? exceedsLimit(rounds[0]!) : findBusyMachine(rounds[0]!)) {
        for (let round = 1; round < ROUNDS; round++) rounds.push(await run(attack, index, round));
      }
      const median = toMedian(rounds);
      measurements.push(median);
      problems.push(...findProblems(median));
      const busy = attack ? null : findBusyMachine(median);
      if (busy) return { problems: [...problems, busy], figures: 'no attack was measured' };
    }
    const table = createTable(measurements);
    process.stdout.write(`${table}\n`);
    if (write) await writeTable(write, table, { seconds, only });
    return { problems, figures: `${attacks.length} attacks; baseline p99 ${measurements[0]!.p99} ms` };
  } finally {
    await environment.close(log);
  }
}

/** Deletes the pending renditions of an earlier attack, which the next service would otherwise render. */
async function discardPendingRenditions(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(`delete from photo_rendition where status = 'PENDING'`);
  await client.end();
}

function selectAttacks(short: boolean, only: string | undefined): Attack[] {
  const names = only?.split(',');
  for (const name of names ?? []) {
    if (!ATTACKS.some((attack) => attack.name === name)) {
      throw new Error(`There is no case ${name}. There are: ${ATTACKS.map((attack) => attack.name).join(', ')}.`);
    }
  }
  return ATTACKS.filter((attack) => (names ? names.includes(attack.name) : !short || attack.short));
}

function formatLine(measurement: Measurement, problems: string[]): string {
  const {
    name,
    p50,
    p99,
    max,
    eventLoopP99,
    slowest,
    failures,
    peakMib,
    peakDistinctMib,
    healthP99,
    exits,
    statuses,
    problem,
  } = measurement;
  const figures = `p50 ${p50}, p99 ${p99}, max ${max} ms (${slowest}), event loop p99 ${eventLoopP99} ms, ${failures.length} failed, health p99 ${healthP99} ms`;
  const service = `${peakMib} MiB (${peakDistinctMib} with shared pages once), ${exits} deaths`;
  const verdict = problems.length === 0 ? 'ok ' : 'BAD';
  return `${verdict} ${name}: ${figures}, ${service}; attacker: ${JSON.stringify(statuses)}${problem && ` ${problem}`}`;
}
