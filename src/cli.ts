import 'reflect-metadata';
import { runCli } from './cli/run.ts';
import { systemClock } from './shared/clock.ts';

/** How long an interrupted command may take to end in order. */
const PATIENCE = 5000;
const INTERRUPTED = 130;

let interrupted = false;

/** The first signal has the command close the databases; a second one ends the process at once. */
function onInterrupt(work: () => Promise<void>): () => void {
  const interrupt = () => {
    if (interrupted) process.exit(INTERRUPTED);
    interrupted = true;
    setTimeout(() => process.exit(INTERRUPTED), PATIENCE).unref();
    work().catch(() => process.exit(INTERRUPTED));
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return () => {
    for (const signal of signals) process.off(signal, interrupt);
  };
}

// Whoever reads the pipe may have seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { stdin, stdout, stderr } = process;
const code = await runCli(process.argv.slice(2), { clock: systemClock, stdin, stdout, stderr, onInterrupt });
process.exitCode = interrupted ? INTERRUPTED : code;
