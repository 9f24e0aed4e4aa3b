/** The bench: each part measures one thing over a PostgreSQL and data of its own, and prints its figures. */
import 'reflect-metadata';
import { HELP, type Options, readOptions } from './options.ts';
import { Stage, say } from './stage.ts';

/** What it starts on the stage is closed when it ends, by an error or a signal, too. */
type Part = (stage: Stage, options: Options) => Promise<unknown>;

/** Each is loaded when it is asked for. */
const PARTS: Record<string, () => Promise<Part>> = {
  against: async () => (await import('./against.ts')).compareBuilds,
  compare: async () => (await import('./compare.ts')).compare,
  workers: async () => (await import('./workers.ts')).workers,
  supervision: async () => (await import('./supervision.ts')).supervision,
  growth: async () => (await import('./growth.ts')).growth,
  memory: async () => (await import('./memory.ts')).memory,
  profile: async () => (await import('./profile.ts')).profile,
  'photo-report': async () => {
    const { photoReports } = await import('./photo-report.ts');
    return () => photoReports();
  },
  uploads: async () => {
    const { uploads } = await import('./uploads.ts');
    return async () => {
      const report = await uploads({ say });
      process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
      if (!report.holds) process.exitCode = 1;
    };
  },
};

const stage = new Stage();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void stage.close().then(() => process.exit(1)));
}

try {
  const options = readOptions();
  if (options) {
    const part = PARTS[options.part];
    if (!part) throw new Error(`There is no part "${options.part}".\n\n${HELP}`);
    await (await part())(stage, options);
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
