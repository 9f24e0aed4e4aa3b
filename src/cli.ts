import 'reflect-metadata';
import { runCli } from './cli/run.ts';
import { systemClock } from './clock.ts';

/** How long an interrupted command may take to close the databases. */
const PATIENCE = 10_000;

/** The first Ctrl-C lets the command close the databases; a second one ends the process at once. */
function onInterrupt(work: () => Promise<void>): () => void {
  let interrupted = false;
  const interrupt = () => {
    if (interrupted) process.exit(130);
    interrupted = true;
    setTimeout(() => process.exit(130), PATIENCE).unref();
    work().then(
      () => process.exit(130),
      () => process.exit(130),
    );
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) process.on(signal, interrupt);
  return () => {
    for (const signal of signals) process.off(signal, interrupt);
  };
}

// The reader of a pipe may have seen enough.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));

const { env, stdin, stdout, stderr } = process;
process.exitCode = await runCli(process.argv.slice(2), { env, clock: systemClock, stdin, stdout, stderr, onInterrupt });
