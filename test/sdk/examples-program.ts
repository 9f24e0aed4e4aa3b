import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';

/** What an example has printed, and the error that ended it. */
export interface ExampleRun {
  name: string;
  lines: string[];
  error?: string;
}

/** Runs the examples of the arguments, one after the other, in one process: each would load the client package for itself. */
for (const name of process.argv.slice(2)) {
  const run: ExampleRun = { name, lines: [] };
  console.log = (...values) => void run.lines.push(format(...values));
  await import(pathToFileURL(resolve(`${name}.ts`)).href).catch((error) => {
    run.error = format(error);
  });
  process.stdout.write(`${JSON.stringify(run)}\n`);
}
process.exit();
