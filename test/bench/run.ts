/** The bench: each part measures one thing over a PostgreSQL and data of its own, and prints its figures. */
import 'reflect-metadata';
import { compare } from './compare.ts';
import { memory } from './memory.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { profile } from './profile.ts';
import { Stage, say } from './stage.ts';

/** By name: what a part is given is prepared by itself, and closed when it ends, by an error or a signal, too. */
const PARTS: Record<string, (stage: Stage, options: Options) => Promise<void>> = { compare, memory, profile };

const stage = new Stage();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void stage.close().then(() => process.exit(1)));
}

try {
  const options = readOptions();
  if (options) {
    const part = PARTS[options.part];
    if (!part) throw new Error(`There is no part "${options.part}".\n\n${HELP}`);
    await part(stage, options);
  } else {
    process.stdout.write(HELP);
  }
} catch (error) {
  process.exitCode = 1;
  say((error as Error).message);
} finally {
  await stage.close();
}
process.exit();
