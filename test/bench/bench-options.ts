import { parseArgs } from 'node:util';

export const HELP = `npm run bench -- [part] [options]

Parts:
  compare           the service beside a hand-written one, a tuned one, and PostGraphile (the default)
  workers           one process beside as many as there are cores
  supervision       the requests that fail when one of two workers, or both, are killed
  growth            requests over lists of 10,000,000 rows beside a thousandth of them, one connection
  events            cost of the event log for writes and an import, and its pages, cursors and updatedSince over 10,000,000 rows
  totals            cost of totals for a single write, and rows per second of an import that maintains them
  observability     cost of log lines, tracing, compression and connections; less than four minutes
  console           integrators' requests with and without 20 tabs of the console that show Today and the board
  replicas          dashboards beside integrators' requests, with 0, 1 and 2 standbys
  scale             tables, unique indexes and statements that refer to the builder, and those that do not
  memory            resident memory at rest and after 100,000 mixed requests
  snapshot          a snapshot of 2,500,000 timesheets beside pages by cursor; memory of the process
  start             duration of npm start with existing databases
  profile           CPU time of the service by package and folder
  against           CPU time per request beside another build; --against selects this part
  photo-report      the largest photo reports beside JSON.parse of their bodies
  renditions        CPU time of a photo's renditions, and 20 photos that arrive at once
  uploads           resident memory under 20 uploads of 40 MiB at once

Options:
  --only TEXT       workloads whose name contains the text
  --seconds N       of each measurement (5; 1 for compare and observability, 2 for console)
  --rounds N        of each workload; the services alternate (5; 15 for compare, observability, start and with --against)
  --against DIR     another built checkout of this project, to compare the CPU time per request with
  --connections N   repeatable (32 and 1)
  --timesheets N    rows in the largest table (20000)
  --data FOLDER     folder that keeps the data of growth for another run
  --lists A,B       lists of growth that are filled and measured, such as meetings,defects (all); with --write their rows are replaced
  --rows N          of the event log and of the list whose pages are measured (10000000)
  --shrink N        divides the rows of growth (1)
  --requests N      number of requests; the default depends on the part
  --json            prints the figures as JSON
  --write FILE      also writes the figures between the part's markers of that page, with machine and date
`;

/** Default duration of a measurement in seconds, by part. The default of the other parts is 5. */
const DEFAULT_SECONDS: Record<string, string> = { compare: '1', observability: '1', console: '2' };

export interface BenchOptions {
  part: string;
  seconds: number;
  rounds: number;
  connections: number[];
  only: string;
  timesheets: number;
  requests?: number;
  data?: string;
  /** Lists of the growth data: names of tables in the plural; absent for all lists. */
  lists?: string[];
  /** Rows of the event log and of the list whose pages are measured. */
  rows: number;
  shrink: number;
  /** Folder of the built checkout to compare with. */
  against?: string;
  json: boolean;
  /** Path of the page that receives the figures. */
  write?: string;
}

/** Returns the options of the command line; null for `--help`. Throws where an option is invalid. */
export function parseOptions(): BenchOptions | null {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      connections: { type: 'string', multiple: true, default: ['32', '1'] },
      only: { type: 'string', default: '' },
      timesheets: { type: 'string', default: '20000' },
      requests: { type: 'string' },
      data: { type: 'string' },
      lists: { type: 'string' },
      rows: { type: 'string', default: '10000000' },
      shrink: { type: 'string', default: '1' },
      against: { type: 'string' },
      json: { type: 'boolean', default: false },
      write: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return null;
  if (positionals[0] === 'against' && values.against === undefined) throw new Error('against needs --against DIR.');
  const part = positionals[0] ?? (values.against === undefined ? 'compare' : 'against');
  return {
    part,
    seconds: parseCount('seconds', values.seconds ?? DEFAULT_SECONDS[part] ?? '5'),
    rounds: parseCount(
      'rounds',
      values.rounds ?? (['compare', 'against', 'observability', 'start'].includes(part) ? '15' : '5'),
    ),
    connections: values.connections.map((text) => parseCount('connections', text)),
    only: values.only,
    timesheets: parseCount('timesheets', values.timesheets),
    requests: values.requests === undefined ? undefined : parseCount('requests', values.requests),
    data: values.data,
    lists: values.lists?.split(','),
    rows: parseCount('rows', values.rows),
    shrink: parseCount('shrink', values.shrink),
    against: values.against,
    json: values.json,
    write: values.write,
  };
}

function parseCount(name: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`--${name} must be a number from 1, not "${text}".`);
  return Number(text);
}
