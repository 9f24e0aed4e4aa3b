import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../support/ports.ts';
import type { TabsOptions, TabsResult } from './console-tabs-program.ts';
import type { LoadOptions, LoadResult } from './load-generator-program.ts';

const START_TIMEOUT_MS = 90_000;
const STOP_TIMEOUT_MS = 10_000;
/** Time that a load may take beyond its duration. */
const REPLY_TIMEOUT_MS = 60_000;
/** Time that a load with a number of requests may take for each of them. */
const REQUEST_TIMEOUT_MS = 10;

const children: ChildProcess[] = [];
// Kills the processes that still run after an error or a signal; `kill` has no effect on an ended process.
process.on('exit', () => children.forEach((child) => void child.kill('SIGKILL')));

/** Starts a module in a child process, which inherits standard error. */
function startProcess(module: string, env: Record<string, string> = {}, execArgv: string[] = []): ChildProcess {
  const path = new URL(module, import.meta.url);
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = fork(path, { env: { ...process.env, ...env }, execArgv, stdio });
  children.push(child);
  return child;
}

/** Ends a process with SIGTERM, and with SIGKILL after a timeout. */
async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  await ended;
  clearTimeout(timer);
}

/** A measured service: its process and those that it starts. */
export class ServiceProcess {
  constructor(
    readonly name: string,
    readonly origin: string,
    readonly child: ChildProcess,
  ) {}

  /** Starts the module and waits until its health check succeeds. */
  static async start(
    name: string,
    module: string,
    env: Record<string, string>,
    nodeOptions: string[] = [],
  ): Promise<ServiceProcess> {
    const port = await freePort();
    const child = startProcess(module, { ...env, PORT: String(port) }, nodeOptions);
    const service = new ServiceProcess(name, `http://127.0.0.1:${port}`, child);
    for (const startedAt = Date.now(); !(await service.#isLive()); await sleep(50)) {
      if (service.child.exitCode !== null) throw new Error(`${name} exited during its start.`);
      if (Date.now() - startedAt > START_TIMEOUT_MS) {
        await service.stop();
        throw new Error(`The health check of ${name} does not succeed.`);
      }
    }
    return service;
  }

  #isLive(): Promise<boolean> {
    return fetch(`${this.origin}/health/live`, { signal: AbortSignal.timeout(START_TIMEOUT_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Returns the CPU time of its processes so far, in milliseconds; 0 without /proc. */
  async readProcessorTime(): Promise<number> {
    return sum(await Promise.all((await this.listPids()).map(readProcessorTime)));
  }

  /** Returns the resident memory of its processes in MiB; 0 without /proc. */
  async readResidentMib(): Promise<number> {
    return sum(await Promise.all((await this.listPids()).map(readProcessResidentMib)));
  }

  /** Returns the ids of its process and of all descendants, the oldest first. */
  listPids(): Promise<number[]> {
    return listProcessTree(this.child.pid!);
  }

  stop(): Promise<void> {
    return stopProcess(this.child);
  }
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

async function readProcessResidentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Returns the CPU time of each server process of a PostgreSQL cluster in milliseconds, by process id; empty without /proc. */
export async function readDatabaseProcessorTime(dataDir: string): Promise<Map<string, number>> {
  try {
    const [postmaster] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')).trim().split(' ');
    return new Map(await Promise.all(children.map(async (pid) => [pid, await readProcessorTime(pid)] as const)));
  } catch {
    return new Map();
  }
}

/** Returns the ids of a process and of its running descendants. */
export async function listProcessTree(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(listProcessTree))).flat()];
}

/** Returns the CPU time of a process in milliseconds, user and system; 0 where it has ended. */
export async function readProcessorTime(pid: number | string): Promise<number> {
  try {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
    // utime and stime, in ticks of 10 ms.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}

/** The process that generates load. It runs one load at a time. */
export class LoadGenerator {
  readonly #child = startProcess('./load-generator-program.js');

  async run(options: LoadOptions): Promise<LoadResult> {
    const signal = AbortSignal.timeout(
      options.seconds * 1000 + (options.amount ?? 0) * REQUEST_TIMEOUT_MS + REPLY_TIMEOUT_MS,
    );
    this.#child.send(options);
    const [reply] = (await once(this.#child, 'message', { signal })) as [LoadResult | string];
    if (typeof reply === 'string') throw new Error(reply);
    return reply;
  }

  stop(): Promise<void> {
    return stopProcess(this.#child);
  }
}

/** The process that simulates tabs of the console. */
export class TabsProcess {
  readonly #child = startProcess('./console-tabs-program.js');

  /** Opens tabs and waits until each has read its page. */
  async open(options: TabsOptions): Promise<void> {
    await this.#send(options);
  }

  /** Closes the tabs and returns their counts. */
  close(): Promise<TabsResult> {
    return this.#send(null) as Promise<TabsResult>;
  }

  async #send(message: TabsOptions | null): Promise<TabsResult | null> {
    this.#child.send(message as TabsOptions);
    const [reply] = (await once(this.#child, 'message', { signal: AbortSignal.timeout(REPLY_TIMEOUT_MS) })) as [
      TabsResult | string | null,
    ];
    if (typeof reply === 'string') throw new Error(reply);
    return reply;
  }

  stop(): Promise<void> {
    return stopProcess(this.#child);
  }
}
