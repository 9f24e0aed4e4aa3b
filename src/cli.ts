import 'reflect-metadata';
import { runCli } from './cli/run.ts';
import { systemClock } from './shared/clock.ts';

/** Milliseconds that an interrupted command has to close its databases. */
const SHUTDOWN_TIMEOUT_MS = 5000;
/** 128 + SIGINT, as shells report it. */
const INTERRUPTED_EXIT_CODE = 130;

let interrupted = false;

/** Calls `work` on the first signal, and exits at once on the second. Returns the function that removes the handlers. */
function onInterrupt(work: () => Promise<void>): () => void {
  const interrupt = () => {
    if (interrupted) process.exit(INTERRUPTED_EXIT_CODE);
    interrupted = true;
    setTimeout(() => process.exit(INTERRUPTED_EXIT_CODE), SHUTDOWN_TIMEOUT_MS).unref();
    work().catch(() => process.exit(INTERRUPTED_EXIT_CODE));
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return () => {
    for (const signal of signals) process.off(signal, interrupt);
  };
}

// The reader of a pipe may close it early, as `head` does.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { stdin, stdout, stderr } = process;
const installed = !process.argv[1]!.endsWith('cli.js');
const code = await runCli(process.argv.slice(2), { clock: systemClock, installed, stdin, stdout, stderr, onInterrupt });
process.exitCode = interrupted ? INTERRUPTED_EXIT_CODE : code;
