/** Command `npm run bench`. Each part starts its own PostgreSQL with its own data, measures, and prints its figures. */
import 'reflect-metadata';
import { requireMarkers } from '../support/figures.ts';
import { installTool } from '../support/install-tool.ts';
import { BenchEnvironment, logProgress } from './bench-environment.ts';
import { type BenchOptions, HELP, parseOptions } from './bench-options.ts';
import { publishFigures } from './publish-figures.ts';

type BenchPart = (environment: BenchEnvironment, options: BenchOptions) => Promise<unknown>;

/** Parts by their command-line names. The imports are dynamic so that a run loads only the modules of its part. */
const PARTS: Record<string, () => Promise<BenchPart>> = {
  against: async () => (await import('./against.bench.ts')).compareBuilds,
  compare: async () => (await import('./compare.bench.ts')).compareServices,
  workers: async () => (await import('./workers.bench.ts')).measureWorkers,
  supervision: async () => (await import('./supervision.bench.ts')).measureSupervision,
  growth: async () => (await import('./growth.bench.ts')).measureGrowth,
  totals: async () => (await import('./totals.bench.ts')).measureTotals,
  scale: async () => (await import('./scale.bench.ts')).countBuilderReferences,
  replicas: async () => (await import('./replicas.bench.ts')).measureReplicas,
  events: async () => (await import('./events.bench.ts')).measureEvents,
  observability: async () => (await import('./observability.bench.ts')).measureObservability,
  console: async () => (await import('./console.bench.ts')).measureConsole,
  memory: async () => (await import('./memory.bench.ts')).measureMemory,
  snapshot: async () => (await import('./snapshot.bench.ts')).measureSnapshot,
  start: async () => (await import('./start.bench.ts')).measureStart,
  profile: async () => (await import('./profile.bench.ts')).profileService,
  'photo-report': async () => {
    const { measurePhotoReports, toPhotoReportTable } = await import('./photo-report.bench.ts');
    return async (_, options) => {
      const rows = await measurePhotoReports({ log: logProgress });
      await publishFigures(options, rows, toPhotoReportTable(rows));
    };
  },
  renditions: async () => {
    const { measureRenditions, toRenditionsTable } = await import('./renditions.bench.ts');
    return async (_, options) => {
      const report = await measureRenditions();
      await publishFigures(options, report, toRenditionsTable(report));
      if (!report.holds) process.exitCode = 1;
    };
  },
  uploads: async () => {
    const { measureUploads, toUploadsTable } = await import('./uploads.bench.ts');
    return async (_, options) => {
      const report = await measureUploads({ log: logProgress });
      await publishFigures(options, report, toUploadsTable(report));
      if (!report.holds) process.exitCode = 1;
    };
  },
};

const environment = new BenchEnvironment();

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => void environment.close().then(() => process.exit(1)));
}

try {
  const options = parseOptions();
  if (options) {
    const loadPart = PARTS[options.part];
    if (!loadPart) throw new Error(`There is no part "${options.part}".\n\n${HELP}`);
    if (options.write !== undefined) await requireMarkers(options.write, options.part);
    installTool('test/tools/bench');
    const runPart = await loadPart();
    await runPart(environment, options);
  } else {
    process.stdout.write(HELP);
  }
} catch (error) {
  process.exitCode = 1;
  logProgress((error as Error).message);
} finally {
  await environment.close();
}
process.exit();
