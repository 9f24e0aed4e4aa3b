import pg from 'pg';
import { ProofSite, type Say } from '../site.ts';
import type { Attack } from './attack.ts';
import { ATTACKS } from './attacks/index.ts';
import { type Measurement, measure } from './measure.ts';
import { createTable, exceedsLimit, medianOf, writeTable, wrongIn } from './report.ts';
import { prepareScenario } from './scenario.ts';

interface NoisyNeighbourOptions {
  /** A few cases for a few seconds each. */
  short?: boolean;
  /** Names of cases, separated by commas. */
  only?: string;
  /** Seconds of each attack, and of the victim alone. */
  seconds?: string;
  /** Markdown file that receives the table. */
  write?: string;
  say: Say;
}

const FULL = { seconds: 12, baselineSeconds: 20, warmUpMs: 3_000, volume: { timesheets: 300_000, photos: 50_000 } };
const BRIEF = { seconds: 3, baselineSeconds: 4, warmUpMs: 2_000, volume: { timesheets: 40_000, photos: 5_000 } };

/** Of a case whose first measurement exceeds a limit: other work of the machine may be the cause. */
const ROUNDS = 3;

/** The defaults of production for what is switched off in other proofs: an empty setting counts as absent. */
const PRODUCTION = { SUPERVISE: '', RATE_LIMIT_API: '', RATE_LIMIT_SYNC: '', RATE_LIMIT_TOKEN: '', LOG_LEVEL: 'error' };

/**
 * Measures an integrator's ordinary requests while another integrator attacks the service in every way that is known, each over a
 * service that was started for it.
 */
export async function noisyNeighbour({ short = false, only, write, say, ...given }: NoisyNeighbourOptions) {
  const defaults = short ? BRIEF : FULL;
  const { warmUpMs, volume } = defaults;
  const seconds = Number(given.seconds ?? defaults.seconds);
  const baselineSeconds = Number(given.seconds ?? defaults.baselineSeconds);
  const attacks = selectAttacks(short, only);
  const site = await ProofSite.start();
  try {
    say(`Loading ${volume.timesheets} timesheets and records as large as the API accepts.`);
    const urls = { DATABASE_URL_AU1: site.postgres.directUrl('au1'), DATABASE_URL_US1: site.postgres.directUrl('us1') };
    const databaseUrl = urls.DATABASE_URL_AU1;
    const scenario = await prepareScenario(site, databaseUrl, volume);
    const measurements: Measurement[] = [];
    const wrong: string[] = [];
    const run = async (attack: Attack | null, index: number, round: number) => {
      await discardPendingRenditions(databaseUrl);
      const instance = await site.addInstance({ ...PRODUCTION, ...urls, ...attack?.settings });
      const milliseconds = (attack ? seconds : baselineSeconds) * 1000;
      // Each round has an address of its own for the victim, whose token requests have a budget by address and minute.
      const localAddress = `127.0.${2 + round}.${index + 1}`;
      const measurement = await measure(
        { instance, scenario, databaseUrl, localAddress, warmUpMs, milliseconds },
        attack,
      );
      const found = wrongIn(measurement, measurements[0] ?? measurement);
      say(lineOf(measurement, found));
      await instance.kill();
      site.instances.splice(0);
      return measurement;
    };
    for (const [index, attack] of [null, ...attacks].entries()) {
      const rounds = [await run(attack, index, 0)];
      const baseline = measurements[0] ?? rounds[0]!;
      if (attack && exceedsLimit(rounds[0]!, baseline)) {
        for (let round = 1; round < ROUNDS; round++) rounds.push(await run(attack, index, round));
      }
      const median = medianOf(rounds);
      measurements.push(median);
      wrong.push(...wrongIn(median, baseline));
    }
    const table = createTable(measurements);
    process.stdout.write(`${table}\n`);
    if (write) await writeTable(write, table, { seconds, only });
    return { wrong, figures: `${attacks.length} attacks; baseline p99 ${measurements[0]!.p99} ms` };
  } finally {
    await site.close(say);
  }
}

/** Photos of an earlier attack, which the next service would render: they belong to that attack's figures. */
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

function lineOf(measurement: Measurement, wrong: string[]): string {
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
    deaths,
    statuses,
    problem,
  } = measurement;
  const figures = `p50 ${p50}, p99 ${p99}, max ${max} ms (${slowest}), event loop p99 ${eventLoopP99} ms, ${failures.length} failed, health p99 ${healthP99} ms`;
  const service = `${peakMib} MiB (${peakDistinctMib} with shared pages once), ${deaths} deaths`;
  const verdict = wrong.length === 0 ? 'ok ' : 'BAD';
  return `${verdict} ${name}: ${figures}, ${service}; attacker: ${JSON.stringify(statuses)}${problem && ` ${problem}`}`;
}
