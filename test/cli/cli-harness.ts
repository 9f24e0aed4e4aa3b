import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { Builder } from '../../entities/builder.entity.ts';
import { Project } from '../../entities/project.entity.ts';
import { Subcontractor } from '../../entities/subcontractor.entity.ts';
import { Worker } from '../../entities/worker.entity.ts';
import { runCli } from '../../src/cli/run.ts';
import { Database, type Databases } from '../../src/database/database.ts';
import { REGIONS, type RegionId } from '../../src/shared/regions.ts';
import { createDatabase } from '../setup/database.ts';
import { useStarted } from '../support/use-started.ts';

interface CommandOutput {
  code: number;
  out: string;
  err: string;
}

/** The command line in this process, with fresh databases of both regions. */
export interface CliHarness {
  databases: Databases;
  env: Record<string, string>;
  clock: { at: number; now(): number };
  /** Runs a command; `stdin` is what is piped into it. */
  run(args: string[], stdin?: string): Promise<CommandOutput>;
  /** Runs a command with `--json`, which must succeed, and returns the object. */
  // biome-ignore lint/suspicious/noExplicitAny: each command has its own result.
  json(args: string[], stdin?: string): Promise<any>;
  /** Runs a command with `--json`, which must fail and print nothing on stdout, and returns the message. */
  errorOf(args: string[], stdin?: string): Promise<string>;
  close(): Promise<void>;
}

export const CLI_START = Date.UTC(2026, 5, 1);
export const toTimestamp = (milliseconds: number) => new Date(milliseconds).toISOString();

/** @param templates Databases that those of the regions are clones of: by default one with empty tables. */
export async function startCli(templates: Partial<Record<RegionId, string>> = {}): Promise<CliHarness> {
  const created = await Promise.all(REGIONS.map((region) => createDatabase(templates[region])));
  const urls = created.map(({ url }) => url);
  const dataDir = await mkdtemp(join(tmpdir(), 'builder-api-cli-'));
  const env = { DATABASE_URL_AU1: urls[0]!, DATABASE_URL_US1: urls[1]!, DATA_DIR: dataDir };
  const databases = Object.fromEntries(
    REGIONS.map((region, index) => [region, new Database(region, urls[index]!)]),
  ) as Databases;
  const clock = {
    at: CLI_START,
    now() {
      return this.at;
    },
  };
  const run = async (args: string[], stdin = '') => {
    const [stdout, stderr] = [new TextCollector(), new TextCollector()];
    const input = new PassThrough();
    input.end(stdin);
    const code = await runCli(args, { env, clock, stdin: input, stdout, stderr });
    return { code, out: stdout.text, err: stderr.text };
  };
  const json = async (args: string[], stdin?: string) => {
    const { code, out, err } = await run([...args, '--json'], stdin);
    if (code !== 0 || err !== '') throw new Error(`exit code ${code}: ${err}`);
    return JSON.parse(out);
  };
  const errorOf = async (args: string[], stdin?: string) => {
    const { code, out, err } = await run([...args, '--json'], stdin);
    if (code !== 1 || out !== '') throw new Error(`exit code ${code}: ${out}`);
    const { error, ...rest } = JSON.parse(err);
    if (Object.keys(rest).length > 0 || error.includes('\n')) throw new Error(err);
    return error as string;
  };
  const close = async () => {
    for (const region of REGIONS) await databases[region].close();
    for (const database of created) await database.drop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { databases, env, clock, run, json, errorOf, close };
}

/** Opens a command line for the tests of the file that calls it, or of its `describe`. */
export const useCli = (): CliHarness =>
  useStarted(
    () => startCli(),
    (cli) => cli.close(),
  );

/** Stream that collects what is written to it. */
export class TextCollector extends Writable {
  text = '';
  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk;
    done();
  }
}

/** Inserts two builders, each with a project and a worker: `buil_a`, `proj_a`, `wkr_a` and `buil_b`, `proj_b`, `wkr_b`. */
export async function seedBuilders(
  { databases }: Pick<CliHarness, 'databases'>,
  region: RegionId = 'au1',
): Promise<void> {
  const em = databases[region].fork();
  const stamps = { createdAt: toTimestamp(CLI_START), updatedAt: toTimestamp(CLI_START) };
  for (const letter of ['a', 'b']) {
    const builderId = `buil_${letter}`;
    const name = `Builder ${letter.toUpperCase()}`;
    await em.insert(Builder, { ...stamps, id: builderId, name, logoKey: null });
    await em.insert(Project, {
      ...stamps,
      ...{ id: `proj_${letter}`, builderId, status: 'IN_PROGRESS', name: 'Harbour House', integrations: [] },
    });
    const subcontractorId = `sub_${letter}`;
    await em.insert(Subcontractor, {
      ...stamps,
      id: subcontractorId,
      builderId,
      name: 'Steel and Sons',
    } as Subcontractor);
    await em.insert(Worker, { ...stamps, id: `wkr_${letter}`, builderId, subcontractorId, fullName: 'Kim Tran' });
  }
}
