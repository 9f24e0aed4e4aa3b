import type { Config } from '../config.ts';
import { Database, type Databases } from '../database/database.ts';
import { inspectServer, READER_SETTINGS } from '../database/pool/session-settings.ts';
import { splitConnections } from '../limits/connection-split.ts';
import { OperatorError } from '../shared/operator-error.ts';
import { mapRegions, REGIONS } from '../shared/regions.ts';
import { type Cluster, type ClusterOptions, openCluster } from './cluster.ts';

/** Connections for operator commands and other clients. */
const RESERVED_CONNECTIONS = 140;

/** Major version of PostgreSQL: the first with `casefold`, by which names and addresses are compared. */
export const MIN_POSTGRES_VERSION = 18;

/** Callbacks about the embedded PostgreSQL. */
type ClusterCallbacks = Pick<ClusterOptions, 'onStarting' | 'onEnded'>;

export interface OpenDatabases {
  databases: Databases;
  /** The databases for migrations and jobs: the `DATABASE_URL_*_DIRECT` that bypass a pooler, where configured. */
  direct: Databases;
  /** Whether they are in the embedded cluster. */
  embedded: boolean;
  close(): Promise<void>;
}

/** A database that cannot be used; the message is one line for the operator. */
export class DatabaseUnavailableError extends OperatorError {
  override name = 'DatabaseUnavailableError';
}

/**
 * Opens both regional databases: those of the configuration, or those of the embedded cluster. The service owns the embedded cluster;
 * an operator command attaches to that of a running service. Throws `DatabaseUnavailableError` or `ClusterError`.
 */
export async function openDatabases(
  config: Config,
  role: 'service' | 'command',
  callbacks: ClusterCallbacks = {},
): Promise<OpenDatabases> {
  const { databaseUrls, directUrls, replicaUrls } = config;
  const service = splitConnections(config.databaseConnections);
  // Connections take longer to open than a command to read one thing after the other.
  const split = role === 'command' ? { ...service, reads: 1 } : service;
  const cluster = databaseUrls ? null : await openEmbeddedCluster(config, role, callbacks);
  const embeddedUrls = () => mapRegions((region) => cluster!.url(`builder_api_${region}`));
  try {
    if (cluster) await Promise.all(REGIONS.map((region) => cluster.ensureDatabase(`builder_api_${region}`)));
    const urls = databaseUrls ?? embeddedUrls();
    const direct = mapRegions(
      (region) => new Database(region, directUrls?.[region] ?? urls[region], split, replicaUrls[region]),
    );
    // A command runs one transaction at a time and does not need the pooler.
    const databases = mapRegions((region) =>
      role === 'command' || direct[region].url === urls[region]
        ? direct[region]
        : new Database(region, urls[region], split, replicaUrls[region]),
    );
    const opened = new Map<string, Database>();
    for (const region of REGIONS) {
      const name = `DATABASE_URL_${region.toUpperCase()}`;
      const suffix = directUrls !== null && directUrls === config.ownerUrls ? '_OWNER' : '_DIRECT';
      opened.set(direct[region].url === urls[region] ? name : `${name}${suffix}`, direct[region]);
      if (databases[region] !== direct[region]) opened.set(name, databases[region]);
    }
    const close = async () => {
      await Promise.all([...opened.values()].map((database) => database.close()));
      await cluster?.stop();
    };
    await requireReachable(opened, close, config.production);
    return { databases, direct, embedded: cluster !== null, close };
  } catch (error) {
    await cluster?.stop();
    throw error;
  }
}

function openEmbeddedCluster(
  { dataDir, workers, databaseConnections }: Config,
  role: 'service' | 'command',
  callbacks: ClusterCallbacks,
): Promise<Cluster> {
  const settings = { max_connections: String(RESERVED_CONNECTIONS + workers * databaseConnections) };
  return role === 'service' ? openCluster({ dataDir, settings, ...callbacks }) : openCluster({ dataDir }, role);
}

/**
 * Throws `DatabaseUnavailableError` for the first database that cannot be used, in production also for one that is not its region's alone.
 *
 * @param opened databases by the name of the setting of their URL
 */
async function requireReachable(opened: Map<string, Database>, close: () => Promise<void>, production: boolean) {
  const inspect = async ([setting, database]: [string, Database]) => {
    return { setting, region: database.region, ...(await inspectDatabase(database)) };
  };
  const found = await Promise.all([...opened].map(inspect));
  for (const { setting, region, identity, problem } of found) {
    const other = found.find((each) => each.identity && (each.region === region) !== (each.identity === identity));
    const conflict = other && `must ${other.region === region ? '' : 'not '}lead to the database of ${other.setting}`;
    if (!problem && !(production && conflict)) continue;
    await close().catch(() => undefined);
    throw new DatabaseUnavailableError(`${setting} ${problem ?? conflict}.`);
  }
}

/** Returns which database it is, or the reason why a service cannot use it, as the end of a sentence. */
async function inspectDatabase({ url }: Database): Promise<{ problem?: string; identity?: string }> {
  try {
    const { major, version, identity, unsettable } = await inspectServer(url, READER_SETTINGS);
    if (unsettable.length > 0) {
      const missingSettings = unsettable.map((name) => `${name}=${READER_SETTINGS[name]}`).join(', ');
      return {
        problem: `leads through a pooler that shares sessions between transactions, so ${missingSettings} cannot be set: set them for the database user (alter role ... set ...), or pool by session`,
      };
    }
    if (major >= MIN_POSTGRES_VERSION) return { identity };
    return { problem: `leads to PostgreSQL ${version}; the service needs ${MIN_POSTGRES_VERSION} or later` };
  } catch (error) {
    const { message, code, path } = error as NodeJS.ErrnoException;
    // The path of a key is not repeated.
    return { problem: `cannot be used: ${path ? `a file that it names cannot be read (${code})` : message || code}` };
  }
}
