import { open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { FaultyStore } from './faulty-store.ts';
import type { ProofEnvironment } from './proof-environment.ts';
import type { RecordedRequest } from './request-recorder.ts';

/** A temporary fault in the environment of the service. */
export interface Fault {
  name: string;
  prepare?(environment: ProofEnvironment): Promise<void>;
  /** Runs the fault from its begin to its end. Killed processes run again when it resolves. */
  run(environment: ProofEnvironment): Promise<void>;
  /** Returns whether the fault explains this response. 503 with `Retry-After` is always allowed. */
  allowsResponse?(request: RecordedRequest): boolean;
  /** Whether the fault replaces the process of an instance. */
  killsInstance?: boolean;
}

export const killInstance: Fault = {
  name: 'kill -9 of an instance',
  killsInstance: true,
  async run({ instances }) {
    await instances[0]!.kill();
    await instances[0]!.start();
  },
  allowsResponse: ({ status }) => status === 0,
};

export const killPostgres: Fault = {
  name: 'kill -9 of PostgreSQL',
  async run({ postgres }) {
    await postgres.kill();
    await postgres.restart();
  },
};

export const fillStoreDisk = (seconds: number): Fault => ({
  name: `a full disk under the store, ${seconds} s`,
  async run({ dataDir }) {
    await runWithFullDisk(dataDir, () => sleep(seconds * 1000));
  },
});

export const fillDatabaseDisk = (seconds: number): Fault => ({
  name: `a full disk under PostgreSQL, ${seconds} s`,
  async run({ postgres }) {
    await runWithFullDisk(postgres.dataDir, () => sleep(seconds * 1000));
    // Without space for its log PostgreSQL stops.
    if (!(await isAccepting(postgres.url('au1'))) && !(await postgres.isRunning())) await postgres.restart();
    while (!(await isAccepting(postgres.url('au1')))) await sleep(50);
  },
});

export const suspendPostgres = (seconds: number): Fault => ({
  name: `PostgreSQL hangs, ${seconds} s`,
  async run({ postgres }) {
    await postgres.suspend();
    await sleep(seconds * 1000);
    await postgres.resume();
  },
});

export const rejectConnections = (seconds: number): Fault => ({
  name: `PostgreSQL refuses connections, ${seconds} s`,
  async run({ postgres }) {
    postgres.rejectConnections();
    await sleep(seconds * 1000);
    await postgres.acceptConnections();
  },
});

/** To one instance, a token, signature or event of the other one may seem to be from the future, or expired. */
export const moveClock = (hours: number, seconds: number, file: string): Fault => ({
  name: `the clock of an instance jumps by ${hours} h and back, ${seconds} s`,
  async run({ instances }) {
    const { pid } = instances.at(-1)!;
    await writeFile(file, String(hours * 3_600_000));
    process.kill(pid, 'SIGUSR2');
    await sleep(seconds * 1000);
    await writeFile(file, '0');
    process.kill(pid, 'SIGUSR2');
  },
  allowsResponse: ({ status }) => status === 401 || status === 403,
});

export const failStore = (store: FaultyStore, seconds: number): Fault => ({
  name: `an S3 store that fails every third call, ${seconds} s`,
  async run() {
    store.isFailing = true;
    await sleep(seconds * 1000);
    store.isFailing = false;
  },
  // The store itself responds to an upload.
  allowsResponse: ({ operation, status }) => operation === 'put' && status === 500,
});

/** Runs the work while the disk of the folder is full. */
async function runWithFullDisk(folder: string, work: () => Promise<unknown>): Promise<void> {
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

async function isAccepting(connectionString: string): Promise<boolean> {
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
