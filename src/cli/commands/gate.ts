import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { ApiError, ConnectionError } from '../../../sdk/src/errors.ts';
import { loadConfig } from '../../config.ts';
import type { DemoFile } from '../../demo/demo-file.ts';
import { toTerminalLine } from '../../shared/terminal-text.ts';
import { CliError } from '../cli-error.ts';
import type { CliIo } from '../io/cli-io.ts';
import { createProgressReporter } from '../io/progress.ts';
import { GATE_FAULTS, simulateGates } from '../services/gate-simulator.ts';
import { type CommandGroup, type CommandOptions, createIntegerParser, option, required } from './command-group.ts';

/** More than a simulation needs, and few enough for dates and arrays. */
const MAX_NUMBER = 10_000;

const number = (name: string, value: number, description: string) =>
  option(`${name} <number>`, description).default(value).argParser(createIntegerParser(MAX_NUMBER));

/** Adds the command that plays gates. */
export function addGateCommands(program: CommandGroup): void {
  const group = program.addGroup('gate', 'gates that send sign-on events');
  const options = [
    required('--project <id>', 'project with workers who have access to its site'),
    option('--builder <id>', "builder of the project; default: that of the demo's gate"),
    option('--client <id>', "client in au1, with its secret on stdin; default: the demo's client A"),
    number('--gates', 4, 'gates of the site'),
    number('--workers', 8, 'workers who come each day'),
    number('--days', 5, 'days before now'),
    number('--seed', 1, 'seed of the random choices'),
    option('--faults <faults...>', 'what goes wrong')
      .choices(['none', ...GATE_FAULTS])
      .default(GATE_FAULTS, 'all'),
  ];
  const simulate = 'play gates against the service that runs at BASE_URL, and compare what they sent with what it has';
  group.add('simulate', simulate, options, async ({ project: projectId, ...values }) => {
    const folder = await mkdtemp(join(tmpdir(), 'gate-simulate-'));
    try {
      const { log } = createProgressReporter(group.io);
      const { builderId, connection } = await readCredentials(group.io, values);
      const site = { builderId, projectId };
      const { surprises, ...data } = await simulateGates({ ...values, connection, site, folder, log });
      if (surprises.length > 0) throw new CliError(surprises.map(toTerminalLine).join('\n'), { ...data, surprises });
      const { recorded, requests, lost, duplicates, seconds } = data;
      const sent = `${requests} requests (${lost} without a response, ${duplicates} sent twice)`;
      return { data, text: `${recorded} events in ${sent} and ${seconds} seconds: each was applied once.` };
    } catch (error) {
      if (!(error instanceof ApiError || error instanceof ConnectionError || error instanceof SyntaxError)) throw error;
      throw new CliError(toTerminalLine(`The service at BASE_URL does not answer as expected: ${error.message}`));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
}

/** Returns the builder and the connection of the options, or of the demo. */
async function readCredentials({ env, stdin }: CliIo, { client, builder }: CommandOptions) {
  const { baseUrl, dataDir } = loadConfig(env);
  const connection = { baseUrl, scopes: ['write:sign_on_events'] };
  if (client !== undefined) {
    if (builder === undefined) throw CliError.forOption('--builder', 'is required with --client');
    const clientSecret = (await text(stdin)).trim();
    return { builderId: builder, connection: { ...connection, clientId: client, clientSecret } };
  }
  const demo: DemoFile | null = await readFile(join(dataDir, 'demo.json'), 'utf8')
    .then(JSON.parse)
    .catch(() => null);
  const demoClient = Array.from(demo?.clients ?? []).find((each) => each?.name === 'A');
  if (!demoClient || !demo?.attendance) throw CliError.forOption('--client', 'is required where au1 has no demo');
  const { clientId, clientSecret } = demoClient;
  return { builderId: builder ?? demo.attendance.builderId, connection: { ...connection, clientId, clientSecret } };
}
