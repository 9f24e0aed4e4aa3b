/** The bench: each part measures one thing over a PostgreSQL and data of its own, and prints its figures. */
import 'reflect-metadata';
import { requireMarkers } from '../support/figures.ts';
import { HELP, type Options, readOptions } from './options.ts';
import { publish } from './publish.ts';
import { Stage, say } from './stage.ts';

/** What it starts on the stage is closed when it ends, by an error or a signal, too. */
type Part = (stage: Stage, options: Options) => Promise<unknown>;

/** Each is loaded when it is asked for. */
const PARTS: Record<string, () => Promise<Part>> = {
  against: async () => (await import('./against.ts')).compareBuilds,
  isolation: async () => (await import('./against.ts')).compareIsolation,
  compare: async () => (await import('./compare.ts')).compare,
  workers: async () => (await import('./workers.ts')).workers,
  supervision: async () => (await import('./supervision.ts')).supervision,
  growth: async () => (await import('./growth.ts')).growth,
  totals: async () => (await import('./totals.ts')).totals,
  scale: async () => (await import('./scale.ts')).scale,
  replicas: async () => (await import('./replicas.ts')).replicas,
  events: async () => (await import('./events.ts')).events,
  observability: async () => (await import('./observability.ts')).observability,
  console: async () => (await import('./console.ts')).consoleInUse,
  memory: async () => (await import('./memory.ts')).memory,
  start: async () => (await import('./start.ts')).secondStart,
  profile: async () => (await import('./profile.ts')).profile,
  'photo-report': async () => {
    const { photoReports, photoReportTable } = await import('./photo-report.ts');
    return async (_, options) => {
      const rows = await photoReports({ print: say });
      await publish(options, rows, photoReportTable(rows));
    };
  },
  renditions: async () => {
    const { renditions, renditionsTable } = await import('./renditions.ts');
    return async (_, options) => {
      const report = await renditions();
      await publish(options, report, renditionsTable(report));
      if (!report.holds) process.exitCode = 1;
    };
  },
  uploads: async () => {
    const { uploads, uploadsTable } = await import('./uploads.ts');
    return async (_, options) => {
      const report = await uploads({ say });
      await publish(options, report, uploadsTable(report));
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
    if (options.write !== undefined) await requireMarkers(options.write, options.part);
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
