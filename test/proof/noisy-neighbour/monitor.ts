import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { HttpClient } from './http-client.ts';

const INTERVAL_MS = 100;

/** Ids of the process and of all that it has started. */
async function processTree(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(processTree))).flat()];
}

async function residentMib(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

/** Whether the process is one that serves: the program itself, and not a helper that it started. */
async function isServer(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.split('\0').some((argument) => argument.endsWith('server.js'));
}

/** Watches the processes of a service and its health check, several times a second. */
export class Monitor {
  /** MiB, of all processes. */
  peakMib = 0;
  /** Milliseconds of each health check. */
  readonly healthTimes: number[] = [];
  healthFailures = 0;
  readonly #servers = new Set<number>();
  readonly #ended = new Set<number>();
  readonly #client: HttpClient;
  readonly #timer: NodeJS.Timeout;

  constructor(
    readonly pid: number,
    origin: string,
  ) {
    this.#client = new HttpClient(origin, { connections: 50, localAddress: '127.0.0.250', timeoutMs: 30_000 });
    this.#servers.add(pid);
    this.#timer = setInterval(() => {
      void this.#sample();
      void this.#checkHealth();
    }, INTERVAL_MS);
  }

  /** Forgets the figures so far. */
  reset(): void {
    this.peakMib = 0;
    this.healthTimes.length = 0;
    this.healthFailures = 0;
  }

  /** Serving processes that ended. */
  get deaths(): number {
    return this.#ended.size;
  }

  /** Milliseconds of processor time that the event loops of the serving processes have used; 0 where the system does not tell. */
  eventLoopTime(): number {
    let nanoseconds = 0;
    for (const pid of this.#servers) {
      try {
        nanoseconds += Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]);
      } catch {
        // The process has ended.
      }
    }
    return nanoseconds / 1e6;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sample();
    this.#client.close();
  }

  async #sample(): Promise<void> {
    const pids = await processTree(this.pid);
    const sizes = await Promise.all(pids.map(residentMib));
    const total = sizes.reduce((sum, size) => sum + size, 0);
    this.peakMib = Math.max(this.peakMib, total);
    for (const [index, pid] of pids.entries()) {
      if (!this.#servers.has(pid) && sizes[index]! > 0 && (await isServer(pid))) this.#servers.add(pid);
    }
    for (const pid of this.#servers) {
      if ((await residentMib(pid)) === 0) this.#ended.add(pid);
    }
  }

  async #checkHealth(): Promise<void> {
    const { status, milliseconds } = await this.#client.send({ path: '/health/live' });
    this.healthTimes.push(milliseconds);
    if (status !== 200) this.healthFailures++;
  }
}
