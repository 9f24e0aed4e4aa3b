import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { toMarkdownTable } from './markdown-table.ts';
import { publishFigures } from './publish-figures.ts';
import { median } from './statistics.ts';

/** Duration of each phase of a start in milliseconds, in order. The last entry is the total. */
type Phases = Map<string, number>;

/** A line of the service's output. Its total excludes npm. */
const PHASE = /^ {2}(\S.*?) +(\d+) ms$/gm;

/** Measures `npm start` with existing databases, from the command until the service is ready and has printed its addresses. */
export async function measureStart(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  environment.onClose(() => rm(dataDir, { recursive: true, force: true }));
  // As root, PostgreSQL runs as another user, who needs access to the path.
  await chmod(dataDir, 0o711);
  logProgress('Creating the databases.');
  await timeStart(dataDir);
  const starts: Phases[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    starts.push(await timeStart(dataDir));
    logProgress(`Start ${round}: ${starts.at(-1)!.get('total')} ms`);
  }
  const medians = [...starts[0]!.keys()].map((phase) => ({
    phase,
    milliseconds: Math.round(median(starts.map((start) => start.get(phase)!))),
  }));
  const totals = starts.map((start) => start.get('total')!);
  const rows = medians.map(({ phase, milliseconds }) => [phase, String(milliseconds)]);
  const text = `
${toMarkdownTable(['phase', 'ms'], rows)}

Medians of ${starts.length} starts, which took ${Math.min(...totals)} to ${Math.max(...totals)} ms.
`;
  await publishFigures(options, { medians, totals }, text);
}

async function timeStart(dataDir: string): Promise<Phases> {
  const port = await freePort();
  const env = { ...process.env, PORT: String(port), DATA_DIR: dataDir };
  const startedAt = performance.now();
  // `detached` creates a process group, so that SIGINT reaches the service as Ctrl-C does in a terminal.
  const npm = spawn('npm', ['start'], { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const closed = once(npm, 'close');
  let output = '';
  npm.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk;
  });
  const waitFor = async (text: RegExp) => {
    while (!text.test(output)) {
      await Promise.race([once(npm.stdout, 'data'), closed]);
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
    const serviceTotal = phases.pop()![1];
    return new Map([['npm, and checks of the build', total - serviceTotal], ...phases, ['total', total]]);
  } finally {
    if (npm.exitCode === null) process.kill(-npm.pid!, 'SIGINT');
    await closed;
  }
}
