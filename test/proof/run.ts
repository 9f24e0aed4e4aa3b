/**
 * Proofs that take longer than a test run: `npm run proof -- <name>`. Each of them starts its own PostgreSQL and its own
 * processes, and ends no others.
 */
import 'reflect-metadata';
import { attendanceFaults } from './attendance-faults.ts';
import { fuzzService } from './fuzz-service.ts';
import { photoFaults } from './photo-faults.ts';
import { reportFaults } from './report-faults.ts';

const say = (line: string) => process.stderr.write(`${line}\n`);

/** The number that follows a name among the arguments. */
function option(name: string, fallback: number): number {
  const at = process.argv.indexOf(name);
  return at < 0 ? fallback : Number(process.argv[at + 1]);
}

/** By name. Each answers what it has seen, and in `wrong` what should not be. */
const PROOFS: Record<string, () => Promise<{ wrong: string[] }>> = {
  'attendance-faults': () => attendanceFaults({ events: 10_000, workers: 500, gates: 32, pause: 1_500, say }),
  fuzz: () =>
    fuzzService({
      requests: option('--requests', 100_000),
      seed: option('--seed', Date.now() % 2 ** 31),
      connections: 16,
      say,
    }),
  'photo-faults': () => photoFaults({ pages: 400, photosPerPage: 6, workers: 8, pause: 700, say }),
  'report-faults': () => reportFaults({ reports: 12, revisions: 40, pause: 1_000, say }),
};

const [name = ''] = process.argv.slice(2);
const proof = PROOFS[name];
if (!proof) {
  say(`There are these proofs: ${Object.keys(PROOFS).join(', ')}.`);
  process.exit(1);
}
const { wrong, ...report } = await proof();
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
for (const line of wrong.slice(0, 20)) say(line);
say(wrong.length === 0 ? `${name}: holds` : `${name}: ${wrong.length} things are wrong`);
process.exit(wrong.length === 0 ? 0 : 1);
