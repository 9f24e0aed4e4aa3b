import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/ports.ts';
import { type BenchEnvironment, logProgress } from './bench-environment.ts';
import type { BenchOptions } from './bench-options.ts';
import { publishFigures } from './publish-figures.ts';
import { median } from './statistics.ts';

/** Measures `npm start` with existing databases, from the command until the service is ready and has printed its addresses. */
export async function measureStart(environment: BenchEnvironment, options: BenchOptions): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-bench-'));
  environment.onClose(() => rm(dataDir, { recursive: true, force: true }));
  // As root, PostgreSQL runs as another user, who needs access to the path.
  await chmod(dataDir, 0o711);
  logProgress('Creating the databases.');
  await timeStart(dataDir);
  const starts: number[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    starts.push(await timeStart(dataDir));
    logProgress(`Start ${round}: ${starts.at(-1)} ms`);
  }
  const milliseconds = median(starts);
  const text = `
${milliseconds} ms: the median of ${starts.length} starts, which took ${Math.min(...starts)} to ${Math.max(...starts)} ms.
`;
  await publishFigures(options, { milliseconds, starts }, text);
}

/** Returns the milliseconds of a start. */
async function timeStart(dataDir: string): Promise<number> {
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
    return total;
  } finally {
    if (npm.exitCode === null) process.kill(-npm.pid!, 'SIGINT');
    await closed;
  }
}
