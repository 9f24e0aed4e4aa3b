import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';
import { median } from './against.ts';
import type { Options } from './options.ts';
import { publish } from './publish.ts';
import { type Stage, say } from './stage.ts';
import { markdown } from './table.ts';

/** Milliseconds of each phase of a start, in order. The last one is the total. */
type Phases = Map<string, number>;

/** Of the service's own output with `--timing`. Its total begins with its process. */
const PHASE = /^ {2}(\S.*?) +(\d+) ms$/gm;

/** How long `npm start` takes from the command until the service has printed its addresses and is ready, once its databases exist. */
export async function secondStart(stage: Stage, options: Options): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  stage.defer(() => rm(dataDir, { recursive: true, force: true }));
  // As root, PostgreSQL runs as another user, who has to pass through.
  await chmod(dataDir, 0o711);
  say('Creating the databases.');
  await measureStart(dataDir);
  const starts: Phases[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    starts.push(await measureStart(dataDir));
    say(`Start ${round}: ${starts.at(-1)!.get('total')} ms`);
  }
  const medians = [...starts[0]!.keys()].map((phase) => ({
    phase,
    milliseconds: Math.round(median(starts.map((start) => start.get(phase)!))),
  }));
  const totals = starts.map((start) => start.get('total')!);
  const rows = medians.map(({ phase, milliseconds }) => [phase, String(milliseconds)]);
  const text = `
${markdown(['phase', 'ms'], rows)}

Medians of ${starts.length} starts, which took ${Math.min(...totals)} to ${Math.max(...totals)} ms.
`;
  await publish(options, { medians, totals }, text);
}

async function measureStart(dataDir: string): Promise<Phases> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), DATA_DIR: dataDir };
  const startedAt = performance.now();
  // The leader of a process group, as in a terminal, so that the signal of Ctrl-C reaches the service.
  const npm = spawn('npm', ['start', '--', '--timing'], { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const ended = once(npm, 'close');
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  const waitFor = async (text: RegExp) => {
    while (!text.test(output)) {
      await Promise.race([once(npm.stdout, 'data'), ended]);
      if (npm.exitCode !== null) throw new Error(`npm start has ended:\n${output}`);
    }
  };
  try {
    await waitFor(/\/health\/ready$/m);
    const { status } = await fetch(`http://localhost:${port}/health/ready`);
    const total = Math.round(performance.now() - startedAt);
    if (status !== 200) throw new Error(`The health check was answered with ${status}.`);
    await waitFor(/^ {2}total .*$/m);
    const phases = [...output.matchAll(PHASE)].map(
      ([, phase, milliseconds]) => [phase!, Number(milliseconds)] as const,
    );
    const ofService = phases.pop()![1];
    return new Map([['npm, and checks of the build', total - ofService], ...phases, ['total', total]]);
  } finally {
    if (npm.exitCode === null) process.kill(-npm.pid!, 'SIGINT');
    await ended;
  }
}
