import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GATE_FAULTS, simulateGates } from '../../src/cli/services/gate-simulator.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { addGateWorkers } from '../support/attendance-scenario.ts';
import { loadDemoInto } from '../support/load-demo.ts';
import { createSettings, startInstancePair } from './instance-pair.ts';
import { KillLoop } from './kill-loop.ts';
import { KillablePostgres } from './killable-postgres.ts';

export interface WeekOfflineOptions {
  gates: number;
  workers: number;
  days: number;
  /** Milliseconds between one kill and the next. */
  pause: number;
  log: (line: string) => void;
}

const BASE_URL = 'http://localhost:4000';

/**
 * Gates without a network for a week deliver what they have recorded to instances that are killed meanwhile, as PostgreSQL is. The service must
 * have each event once, as the gates have recorded it.
 */
export async function weekOffline({ pause, log, ...options }: WeekOfflineOptions) {
  const undo: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await KillablePostgres.start();
    undo.push(() => postgres.remove());
    const databases = await postgres.createRegionDatabases();
    const { clients, attendance } = await loadDemoInto(databases, { baseUrl: BASE_URL, timesheets: 0 });
    await addGateWorkers(databases.au1, attendance!, options.workers);
    for (const region of REGIONS) await databases[region].close();
    const instances = await startInstancePair(createSettings(postgres, BASE_URL), undo);
    const folder = await mkdtemp(join(tmpdir(), 'week-offline-'));
    undo.push(() => rm(folder, { recursive: true, force: true }));

    const { clientId, clientSecret } = clients.find(({ name }) => name === 'A')!;
    const { origin } = instances[0];
    const credentials = { clientId, clientSecret: clientSecret!, scopes: ['write:sign_on_events'] };
    const connection = { baseUrl: origin, audience: BASE_URL, ...credentials, timeoutMs: 5_000 };
    const { builderId, projectId } = attendance!;
    const site = { builderId, projectId };
    const faults = new KillLoop(postgres, instances, pause, log);
    const simulation = { connection, site, ...options, faults: GATE_FAULTS, seed: 1, folder, log };
    const { surprises, ...report } = await simulateGates(simulation).finally(() => faults.end());
    const { databaseKills, instanceKills } = faults;
    return { ...options, ...report, databaseKills, instanceKills, problems: surprises };
  } finally {
    for (const step of undo.reverse()) await step().catch((error) => log(String(error)));
  }
}
