import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { HttpClient } from './http-client.ts';

const INTERVAL_MS = 100;

/** Returns the ids of the process and its descendants. */
async function listProcessTree(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const children = text.split(' ').filter(Boolean).map(Number);
  return [pid, ...(await Promise.all(children.map(listProcessTree))).flat()];
}

/** Returns the MiB of all resident pages of a process, and of its file pages, such as the program, which processes share. */
async function readMemory(pid: number): Promise<{ resident: number; files: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const mib = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
  return { resident: mib('VmRSS'), files: mib('RssFile') };
}

/** Returns whether the process runs the service and is not a helper that it started. */
async function isServer(pid: number): Promise<boolean> {
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  return command.split('\0').some((argument) => argument.endsWith('server.js'));
}

/** Samples the processes of a service and its health check ten times a second. */
export class Monitor {
  /** Sum of the resident sizes of all processes, in MiB. */
  peakMib = 0;
  /** The same with file pages counted once. */
  peakDistinctMib = 0;
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

  /**
   * Returns the milliseconds of processor time of the event loop of each serving process, by process id. Empty where the system does not
   * provide them.
   */
  eventLoopTimes(): ReadonlyMap<number, number> {
    const times = new Map<number, number>();
    for (const pid of this.#servers) {
      try {
        const nanoseconds = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0];
        times.set(pid, Number(nanoseconds) / 1e6);
      } catch {
        // The process has ended.
      }
    }
    return times;
  }

  /** Discards the figures so far. */
  reset(): void {
    this.peakMib = 0;
    this.peakDistinctMib = 0;
    this.healthTimes.length = 0;
    this.healthFailures = 0;
  }

  /** Number of serving processes that exited. */
  get exits(): number {
    return this.#ended.size;
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#sample();
    this.#client.close();
  }

  async #sample(): Promise<void> {
    const pids = await listProcessTree(this.pid);
    const sizes = await Promise.all(pids.map(readMemory));
    const sum = (values: number[]) => values.reduce((total, value) => total + value, 0);
    const resident = sum(sizes.map((size) => size.resident));
    const files = sizes.map((size) => size.files);
    this.peakMib = Math.max(this.peakMib, resident);
    this.peakDistinctMib = Math.max(this.peakDistinctMib, resident - sum(files) + Math.max(...files));
    for (const [index, pid] of pids.entries()) {
      if (!this.#servers.has(pid) && sizes[index]!.resident > 0 && (await isServer(pid))) this.#servers.add(pid);
    }
    for (const pid of this.#servers) {
      if ((await readMemory(pid)).resident === 0) this.#ended.add(pid);
    }
  }

  async #checkHealth(): Promise<void> {
    const { status, milliseconds } = await this.#client.send({ path: '/health/live' });
    this.healthTimes.push(milliseconds);
    if (status !== 200) this.healthFailures++;
  }
}
