import type { Config } from '../config.ts';
import { REGIONS, type RegionId } from '../context.ts';
import { attachCluster, type Cluster, ClusterError, openCluster } from './cluster.ts';
import { Database, type Databases } from './database.ts';

/** Connections that one process that serves opens at most, to both regions. */
const WORKER_CONNECTIONS = 60;
/** Those left for operator commands and whoever looks at the data. */
const COMMANDS_CONNECTIONS = 140;

export interface OpenDatabases {
  databases: Databases;
  /** Whether the embedded cluster serves them. */
  embedded: boolean;
  close(): Promise<void>;
}

/** A database that cannot be used; the message is one line for the operator. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable';
}

/**
 * Both regional databases: those of the environment, or the embedded cluster's. An operator command attaches to the
 * cluster of a running service; the service itself owns it.
 */
export async function openDatabases(config: Config, role: 'service' | 'command'): Promise<OpenDatabases> {
  const cluster = config.databaseUrls ? null : await embeddedCluster(config, role);
  const urlOf = (region: RegionId) => cluster?.url(`builder_api_${region}`) ?? config.databaseUrls![region];
  try {
    for (const region of cluster ? REGIONS : []) await cluster!.ensureDatabase(`builder_api_${region}`);
    const databases = Object.fromEntries(
      REGIONS.map((region) => [region, new Database(region, urlOf(region))]),
    ) as Databases;
    const close = async () => {
      await Promise.all(REGIONS.map((region) => databases[region].close()));
      await cluster?.stop();
    };
    await requireReachable(databases, close);
    return { databases, embedded: cluster !== null, close };
  } catch (error) {
    await cluster?.stop();
    throw error;
  }
}

function embeddedCluster({ dataDir, workers }: Config, role: 'service' | 'command'): Promise<Cluster> {
  const settings = { max_connections: String(COMMANDS_CONNECTIONS + workers * WORKER_CONNECTIONS) };
  return role === 'service' ? openCluster({ dataDir, settings }) : attachCluster({ dataDir });
}

async function requireReachable(databases: Databases, close: () => Promise<void>): Promise<void> {
  for (const region of REGIONS) {
    try {
      await databases[region].runner.run({ name: 'open.ping', text: 'select 1' }, []);
    } catch (error) {
      await close().catch(() => undefined);
      const { message, code } = error as Error & { code?: string };
      throw new DatabaseUnavailable(`DATABASE_URL_${region.toUpperCase()} cannot be used: ${message || code}.`);
    }
  }
}

/** Errors whose message is all that an operator needs. */
export const isPlainError = (error: unknown): error is Error =>
  error instanceof ClusterError || error instanceof DatabaseUnavailable;
