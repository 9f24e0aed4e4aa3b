import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Exchange } from './exchange.ts';
import type { FaultyStore } from './faulty-store.ts';
import type { ProofSite } from './site.ts';

/** A temporary fault in the environment of the service. */
export interface Fault {
  name: string;
  /** Prepares what the fault needs. */
  prepare?(site: ProofSite): Promise<void>;
  /** Runs the fault from its begin to its end. Killed processes have been started again afterwards. */
  happen(site: ProofSite): Promise<void>;
  /** Whether a client may receive this response during the fault, beside 503 with `Retry-After`. */
  excuses?(exchange: Exchange): boolean;
  /** Whether the fault replaces the process of an instance. */
  killsInstance?: boolean;
}

export const killInstance: Fault = {
  name: 'kill -9 of an instance',
  killsInstance: true,
  async happen({ instances }) {
    await instances[0]!.kill();
    await instances[0]!.start();
  },
  excuses: ({ status }) => status === 0,
};

export const killPostgres: Fault = {
  name: 'kill -9 of PostgreSQL',
  async happen({ postgres }) {
    await postgres.kill();
    await postgres.restart();
  },
};

export const fullStore = (seconds: number): Fault => ({
  name: `a full disk under the store, ${seconds} s`,
  async happen({ dataDir }) {
    await whileFull(dataDir, () => sleep(seconds * 1000));
  },
});

export const fullDatabase = (seconds: number): Fault => ({
  name: `a full disk under PostgreSQL, ${seconds} s`,
  async happen({ postgres }) {
    await whileFull(postgres.dataDir, () => sleep(seconds * 1000));
    // Without space for its log PostgreSQL stops.
    if (!(await isUp(postgres.url('au1'))) && !(await postgres.isRunning())) await postgres.restart();
    while (!(await isUp(postgres.url('au1')))) await sleep(50);
  },
});

export const hang = (seconds: number): Fault => ({
  name: `PostgreSQL hangs, ${seconds} s`,
  async happen({ postgres }) {
    await postgres.hang();
    await sleep(seconds * 1000);
    await postgres.wake();
  },
});

export const refuse = (seconds: number): Fault => ({
  name: `PostgreSQL refuses connections, ${seconds} s`,
  async happen({ postgres }) {
    postgres.refuse();
    await sleep(seconds * 1000);
    await postgres.accept();
  },
});

/** With two instances, a token, signature or event of the other one may be from the future, or expired. */
export const moveClock = (hours: number, seconds: number, file: string): Fault => ({
  name: `the clock of an instance jumps by ${hours} h and back, ${seconds} s`,
  async happen({ instances }) {
    const { pid } = instances.at(-1)!;
    await writeFile(file, String(hours * 3_600_000));
    process.kill(pid, 'SIGUSR2');
    await sleep(seconds * 1000);
    await writeFile(file, '0');
    process.kill(pid, 'SIGUSR2');
  },
  excuses: ({ status }) => status === 401 || status === 403,
});

export const failingStore = (store: FaultyStore, seconds: number): Fault => ({
  name: `an S3 store that fails every third call, ${seconds} s`,
  async happen() {
    store.fails = true;
    await sleep(seconds * 1000);
    store.fails = false;
  },
  // The store itself responds to an upload.
  excuses: ({ operation, status }) => operation === 'put' && status === 500,
});

/** Runs the work while the disk of the folder is full. */
async function whileFull(folder: string, work: () => Promise<unknown>): Promise<void> {
  const path = join(folder, 'filler');
  const filler = await open(path, 'w');
  try {
    for (const size of [4_194_304, 65_536, 4_096, 1]) {
      const chunk = Buffer.alloc(size);
      for (let fits = true; fits; ) {
        fits = await filler.write(chunk).then(
          ({ bytesWritten }) => bytesWritten === size,
          () => false,
        );
      }
    }
    await work();
  } finally {
    await filler.close();
    await rm(path);
  }
}

async function isUp(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
