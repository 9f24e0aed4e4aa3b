/**
 * Runs a proof that takes longer than a test: `npm run proof -- NAME`; `--list` lists the names. A proof starts its own PostgreSQL and
 * processes and ends only these. It prints one line of figures and exits with 1 when it finds a problem. `--write FILE` also writes that
 * line between the proof's markers in the page.
 */
import 'reflect-metadata';
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { requireMarkers, writeFigures } from '../support/figures.ts';
import { swiftUnavailableReason } from '../support/swift.ts';
import { addResource } from './add-resource.ts';
import { attendanceFaults } from './attendance-faults.ts';
import { cluster } from './cluster.ts';
import { composition, findCompositionProblem } from './composition.ts';
import { eventLog } from './event-log.ts';
import { events } from './events.ts';
import { failover } from './failover.ts';
import { faults } from './faults.ts';
import { fleet } from './fleet.ts';
import { fuzzService } from './fuzz-service.ts';
import { guards } from './guards.ts';
import { rotateKeys } from './key-rotation.ts';
import { limits } from './limits.ts';
import { mcpConformance } from './mcp-conformance.ts';
import { noisyNeighbour } from './noisy-neighbour/noisy-neighbour.ts';
import { findPatroniProblem, patroni } from './patroni.ts';
import { findPgbouncerProblem, pgbouncer } from './pgbouncer.ts';
import { photoFaults } from './photo-faults.ts';
import { closeAllEnvironments } from './proof-environment.ts';
import { reportFaults } from './report-faults.ts';
import { requestPath } from './request-path.ts';
import { psqlUnavailableReason, restore } from './restore.ts';
import { soak } from './soak.ts';
import { findPreviousRelease, upgrade } from './upgrade.ts';
import { weekOffline } from './week-offline.ts';

const log = (line: string) => process.stderr.write(`${line}\n`);

/** Result of a proof: its measurements, which are printed as JSON, and the problems that it found. */
interface Report {
  problems: string[];
  /** One line of figures in place of the JSON. */
  figures?: string;
}

interface Options {
  keep?: boolean;
  short?: boolean;
  refuse?: string;
  connections?: string;
  minutes?: string;
  requests?: string;
  seed?: string;
  only?: string;
  seconds?: string;
  rounds?: string;
  instances?: string;
  from?: string;
  write?: string;
}

interface Proof {
  about: string;
  run: (options: Options) => Promise<Report>;
}

const PHOTOS = { photosPerPage: 6, workers: 8, pause: 700, log };

const PROOFS: Record<string, Proof> = {
  'add-resource': {
    about: 'a resource and a field are added to a copy by the procedure of CONTRIBUTING.md; --keep leaves the copy',
    run: ({ keep = false }) => addResource({ keep, log }),
  },
  programs: {
    about: 'the tests that npm test leaves out: whole programs, the embedded PostgreSQL, faults, generated requests',
    run: async () => {
      const { status } = spawnSync('vitest', ['run', '--config', 'vitest.proof.config.ts'], { stdio: 'inherit' });
      return { problems: status === 0 ? [] : ['a test failed'] };
    },
  },
  'attendance-model': {
    about: 'every order of up to five gate events, and 50 runs of random ones, beside models; draws docs/attendance.md',
    run: async () => {
      const files = ['test/attendance/attendance-model.test.ts', 'test/attendance/model.test.ts'];
      const env = { ...process.env, MODEL_DEPTH: '5', MODEL_RUNS: '50' };
      const { status } = spawnSync('vitest', ['run', ...files, '--update', '--testTimeout=600000'], {
        stdio: 'inherit',
        env,
      });
      return { problems: status === 0 ? [] : ['a test failed'] };
    },
  },
  'attendance-faults': {
    about: '10,000 gate events while PostgreSQL and instances are killed: nothing lost, nothing doubled',
    run: () => attendanceFaults({ events: 10_000, workers: 500, gates: 32, pause: 1_500, log }),
  },
  'week-offline': {
    about: '20 gates and 2,000 workers, a week without a network, through the client package: nothing lost; --short',
    run: ({ short = false }) =>
      weekOffline(
        short
          ? { gates: 4, workers: 50, days: 7, pause: 1_000, log }
          : { gates: 20, workers: 2_000, days: 7, pause: 5_000, log },
      ),
  },
  'event-log': {
    about:
      'writers and readers of the event log while PostgreSQL and instances are killed: every commit read once, in order; --short',
    run: ({ short, seconds = short ? '8' : '45' }) =>
      eventLog({ writers: 32, readers: 6, records: 200, seconds: Number(seconds), pause: short ? 1_000 : 2_500, log }),
  },
  fuzz: {
    about: 'requests generated from the OpenAPI document and the GraphQL schema, every answer judged by the document',
    run: ({ requests = '100000', seed = Date.now() % 2 ** 31 }) =>
      fuzzService({ requests: Number(requests), seed: Number(seed), connections: 16, log }),
  },
  'photo-faults': {
    about: '400 photo pages while instances and PostgreSQL are killed: no photo without bytes, doubled or lost',
    run: () => photoFaults({ store: 'local', pages: 400, faults: 120, ...PHOTOS }),
  },
  'photo-faults-s3': {
    about: 'the same on an S3 server, with 150 pages',
    run: async () => {
      // A proof that cannot run must not count as one that holds.
      if (swiftUnavailableReason) return { problems: [`not run: ${swiftUnavailableReason}`] };
      return photoFaults({ store: 's3', pages: 150, faults: 40, ...PHOTOS });
    },
  },
  'report-faults': {
    about: 'photo reports while PostgreSQL and instances are killed: every acknowledged revision is whole',
    run: () => reportFaults({ reports: 12, revisions: 40, pause: 1_000, log }),
  },
  faults: {
    about:
      'mixed load through kills, a full disk, a database that hangs or refuses, a failing store, a clock that jumps; --short',
    run: ({ refuse = '60', short = false }) => faults({ refuseSeconds: Number(refuse), short, log }),
  },
  failover: {
    about: 'the primary is killed for good under mixed load and its standby promoted; --rounds N, 10 by default',
    run: ({ rounds = '10' }) => failover({ rounds: Number(rounds), log }),
  },
  patroni: {
    about: 'primaries of three nodes of Patroni are killed under mixed load, behind HAProxy; --rounds N, 10 by default',
    run: async ({ rounds = '10' }) => {
      const problem = findPatroniProblem();
      return problem === null ? patroni({ rounds: Number(rounds), log }) : { problems: [`not run: ${problem}`] };
    },
  },
  events: {
    about: '50,000 changes reach webhook endpoints and the feed while instances and PostgreSQL are killed; --short',
    run: ({ short = false }) =>
      events(
        short
          ? { changes: 4_000, kills: 4, writers: 4, measured: 200, log }
          : { changes: 50_000, kills: 20, writers: 4, measured: 1_000, log },
      ),
  },
  cluster: {
    about:
      'three instances behind a balancer: limits, revocation, races, jobs, replaced under load without a failed request; --short',
    run: ({ short = false }) => cluster({ rounds: 2, short, log }),
  },
  composition: {
    about:
      'the set of deploy/compose.yaml as processes: README, uploads, polls, restarts, floods, through the proxy; --short',
    run: async ({ short = false }) => {
      const problem = findCompositionProblem();
      if (problem === null) return composition({ short, log });
      // Where the packages cannot be installed, a change may land all the same.
      return { problems: short ? [] : [`not run: ${problem}`], figures: `not run: ${problem}` };
    },
  },
  fleet: {
    about:
      "a Monday's traffic of 200 integrators on 16 instances: what saturates first; --instances N, --seconds N per hour",
    run: ({ instances = '16', seconds = '60' }) =>
      fleet({ instances: Number(instances), integrators: 200, seconds: Number(seconds), log }),
  },
  keys: {
    about: 'the key of tokens and signed URLs is rotated over two instances under load without a failed request',
    run: () => rotateKeys({ log }),
  },
  limits: {
    about:
      'rate limits and clocks over instances, what one request may ask for, slow clients, idle connections; --short',
    run: ({ connections = '10000', short = false }) => limits({ connections: Number(connections), short, log }),
  },
  guards: {
    about:
      'locks, clocks, permission checks, orders and limits are removed one at a time: a test must fail; --only NAMES',
    run: ({ only }) => guards({ only, log }),
  },
  'mcp-conformance': {
    about:
      "the protocol's own suite against /mcp and the authorization server, whose failures are listed; --write FILE",
    run: () => mcpConformance({ log }),
  },
  'noisy-neighbour': {
    about:
      "an integrator's ordinary requests while another one attacks the service; --only NAMES, --short, --seconds N, --write FILE",
    run: ({ short, only, seconds, write }) => noisyNeighbour({ short, only, seconds, write, log }),
  },
  'request-path': {
    about: 'our files and functions that run for a warm list, write and dashboard, against their limits; --write FILE',
    run: () => requestPath(log),
  },
  restore: {
    about:
      'the procedure of docs/backup.md: a loaded server and its store are deleted and restored to a moment; --seconds N',
    run: async ({ seconds = '10' }) =>
      psqlUnavailableReason
        ? { problems: [`not run: ${psqlUnavailableReason}`] }
        : restore({ seconds: Number(seconds), log }),
  },
  pgbouncer: {
    about: 'load through PgBouncer in both pool modes with the settings of deploy/pgbouncer.ini; --seconds N',
    run: async ({ seconds = '10' }) => {
      const problem = findPgbouncerProblem();
      return problem === null ? pgbouncer({ seconds: Number(seconds), log }) : { problems: [`not run: ${problem}`] };
    },
  },
  upgrade: {
    about:
      'the previous release, this one and the previous one again under load; --from REVISION, by default the newest release',
    run: async ({ from }) => {
      const revision = from ?? (await findPreviousRelease());
      if (revision === null)
        return { problems: ['not run: there is no tag v0.2.0 yet, and earlier releases have another schema'] };
      return upgrade({ from: revision, log });
    },
  },
  critical: {
    about:
      'the short forms of faults, event-log, cluster and limits, one after the other: what must hold before a merge',
    run: runCritical,
  },
  soak: {
    about: 'minutes of mixed requests: the resident size of the service does not grow',
    run: ({ minutes = '10' }) => soak({ minutes: Number(minutes), log }),
  },
};

/** Proofs of locks, clocks, commits and the event log, which a change can break without failing a test. */
const CRITICAL = ['faults', 'event-log', 'cluster', 'limits'] as const;

async function runCritical(): Promise<Report> {
  const problems: string[] = [];
  const figures: string[] = [];
  for (const name of CRITICAL) {
    const began = performance.now();
    const { problems: found } = await PROOFS[name]!.run({ short: true });
    const seconds = Math.round((performance.now() - began) / 1000);
    figures.push(`${name} ${found.length === 0 ? 'holds' : 'does not hold'} (${seconds} s)`);
    log(figures.at(-1)!);
    problems.push(...found.map((line) => `${name}: ${line}`));
  }
  return { problems, figures: figures.join(', ') };
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    keep: { type: 'boolean' },
    short: { type: 'boolean' },
    refuse: { type: 'string' },
    connections: { type: 'string' },
    minutes: { type: 'string' },
    requests: { type: 'string' },
    seed: { type: 'string' },
    only: { type: 'string' },
    seconds: { type: 'string' },
    rounds: { type: 'string' },
    instances: { type: 'string' },
    from: { type: 'string' },
    write: { type: 'string' },
  },
});
const [name = ''] = positionals;
const proof = PROOFS[name];
if (values.list || !proof) {
  if (!values.list) log(name ? `There is no proof called ${name}. There are these:` : 'There are these proofs:');
  for (const [proofName, { about }] of Object.entries(PROOFS))
    process.stdout.write(`${proofName.padEnd(20)} ${about}\n`);
  process.exit(values.list ? 0 : 1);
}
const abort = (reason: unknown) => {
  log(String(reason instanceof Error ? reason.stack : reason));
  void closeAllEnvironments(log).then(() => process.exit(1));
};
for (const event of ['SIGINT', 'SIGTERM', 'uncaughtException']) process.once(event, abort);
const { list: _, ...options } = values;
if (options.write) await requireMarkers(options.write, name);
const { problems, figures, ...report } = await proof.run(options);
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
for (const line of problems.slice(0, 20)) log(line);
const verdict = problems.length === 0 ? 'holds' : `${problems.length} things are wrong`;
const line = `${name}: ${verdict}; ${figures ?? JSON.stringify(report)}`;
process.stdout.write(`${line}\n`);
// noisy-neighbour writes a table of its cases itself.
if (options.write && name !== 'noisy-neighbour') await writeFigures(options.write, name, line);
process.exit(problems.length === 0 ? 0 : 1);
