import { type ChildProcess, fork, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadOrder, LoadResult } from './load.ts';
import type { TabsOrder, TabsResult } from './tabs.ts';

const START_MS = 90_000;
const STOP_MS = 10_000;
/** How much longer than its order a load may take; one that counts requests has so long for each. */
const PATIENCE_MS = 60_000;
const REQUEST_MS = 10;

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

const children: ChildProcess[] = [];
// What an error or a signal left behind; an ended process takes no notice.
process.on('exit', () => children.forEach((child) => void child.kill('SIGKILL')));

/** A module in a process of its own; its errors go to our own standard error. */
function start(module: string, env: Record<string, string> = {}, execArgv: string[] = []): ChildProcess {
  const path = new URL(module, import.meta.url);
  const stdio: StdioOptions = ['ignore', 'ignore', 'inherit', 'ipc'];
  const child = fork(path, { env: { ...process.env, ...env }, execArgv, stdio });
  children.push(child);
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}

/** One of the services under load. */
export class Contestant {
  constructor(
    readonly name: string,
    readonly origin: string,
    readonly child: ChildProcess,
  ) {}

  /** Starts the module and waits until it answers. */
  static async start(
    name: string,
    module: string,
    env: Record<string, string>,
    nodeOptions: string[] = [],
  ): Promise<Contestant> {
    const port = await freePort();
    const child = start(module, { ...env, PORT: String(port) }, nodeOptions);
    const contestant = new Contestant(name, `http://127.0.0.1:${port}`, child);
    for (const begun = Date.now(); !(await contestant.#isUp()); await sleep(50)) {
      if (contestant.child.exitCode !== null) throw new Error(`${name} ended at its start.`);
      if (Date.now() - begun > START_MS) {
        await contestant.stop();
        throw new Error(`${name} does not answer.`);
      }
    }
    return contestant;
  }

  #isUp(): Promise<boolean> {
    return fetch(`${this.origin}/health/live`, { signal: AbortSignal.timeout(START_MS) }).then(
      ({ ok }) => ok,
      () => false,
    );
  }

  /** Milliseconds of processor time that its processes have used so far; 0 where the system doesn't tell. */
  async processorTime(): Promise<number> {
    return sum(await Promise.all((await this.pids()).map(processorTime)));
  }

  /** MiB of resident memory of its processes; 0 where the system doesn't tell. */
  async residentMib(): Promise<number> {
    return sum(await Promise.all((await this.pids()).map(residentMib)));
  }

  /** Its process, and those that it has started, the oldest first. */
  pids(): Promise<number[]> {
    return processTree(this.child.pid!);
  }

  stop(): Promise<void> {
    return stop(this.child);
  }
}

const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** What each server process of a PostgreSQL cluster has used, in milliseconds; none where the system doesn't tell. */
export async function databaseProcessorTime(dataDir: string): Promise<Map<string, number>> {
  try {
    const [postmaster] = (await readFile(join(dataDir, 'postgres', 'postmaster.pid'), 'utf8')).split('\n');
    const children = (await readFile(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8')).trim().split(' ');
    return new Map(await Promise.all(children.map(async (pid) => [pid, await processorTime(pid)] as const)));
  } catch {
    return new Map();
  }
}

/** Ids of the process and of those that it has started, which are still there. */
export async function processTree(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(processTree))).flat()];
}

export async function processorTime(pid: number | string): Promise<number> {
  try {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ');
    // User and system time, in hundredths of a second.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return 0;
  }
}

export class LoadGenerator {
  readonly #child = start('./load.js');

  async run(order: LoadOrder): Promise<LoadResult> {
    const signal = AbortSignal.timeout(order.seconds * 1000 + (order.amount ?? 0) * REQUEST_MS + PATIENCE_MS);
    this.#child.send(order);
    const [answer] = (await once(this.#child, 'message', { signal })) as [LoadResult | string];
    if (typeof answer === 'string') throw new Error(answer);
    return answer;
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}

/** Tabs of the console. */
export class TabsProcess {
  readonly #child = start('./tabs.js');

  /** Opens tabs, and waits until each has shown its page. */
  async open(order: TabsOrder): Promise<void> {
    await this.#send(order);
  }

  close(): Promise<TabsResult> {
    return this.#send(null) as Promise<TabsResult>;
  }

  async #send(order: TabsOrder | null): Promise<TabsResult | null> {
    this.#child.send(order as TabsOrder);
    const [answer] = (await once(this.#child, 'message', { signal: AbortSignal.timeout(PATIENCE_MS) })) as [
      TabsResult | string | null,
    ];
    if (typeof answer === 'string') throw new Error(answer);
    return answer;
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}
