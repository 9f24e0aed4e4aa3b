import type { Config } from '../config.ts';
import { Database, type Databases } from '../database/database.ts';
import { findUnsupportedSettings, READER_SETTINGS } from '../database/pool/session-settings.ts';
import { REGIONS, type RegionId } from '../shared/regions.ts';
import { attachCluster, type Cluster, ClusterError, type ClusterOptions, openCluster } from './cluster.ts';

/** Connections that one process that serves opens at most, to both regions. */
const WORKER_CONNECTIONS = 60;
/** Those left for operator commands and whoever looks at the data. */
const COMMANDS_CONNECTIONS = 140;

/** What a service is told of its embedded PostgreSQL. */
export type Supervision = Pick<ClusterOptions, 'onRestart' | 'onGivenUp'>;

export interface OpenDatabases {
  databases: Databases;
  /** The same databases for migrations and jobs, past a pooler where the configuration names such addresses. */
  direct: Databases;
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
export async function openDatabases(
  config: Config,
  role: 'service' | 'command',
  supervision: Supervision = {},
): Promise<OpenDatabases> {
  const { databaseUrls, directUrls } = config;
  const cluster = databaseUrls ? null : await embeddedCluster(config, role, supervision);
  const embeddedUrls = () => fromRegions((region) => cluster!.url(`builder_api_${region}`));
  try {
    for (const region of cluster ? REGIONS : []) await cluster!.ensureDatabase(`builder_api_${region}`);
    const urls = databaseUrls ?? embeddedUrls();
    const direct = fromRegions((region) => new Database(region, directUrls?.[region] ?? urls[region]));
    // A command does the work of an operator, one transaction at a time.
    const databases = fromRegions((region) =>
      role === 'command' || direct[region].url === urls[region] ? direct[region] : new Database(region, urls[region]),
    );
    const opened = new Map<string, Database>();
    for (const region of REGIONS) {
      const name = `DATABASE_URL_${region.toUpperCase()}`;
      opened.set(direct[region].url === urls[region] ? name : `${name}_DIRECT`, direct[region]);
      if (databases[region] !== direct[region]) opened.set(name, databases[region]);
    }
    const close = async () => {
      await Promise.all([...opened.values()].map((database) => database.close()));
      await cluster?.stop();
    };
    await requireReachable(opened, close);
    return { databases, direct, embedded: cluster !== null, close };
  } catch (error) {
    await cluster?.stop();
    throw error;
  }
}

function embeddedCluster(
  { dataDir, workers }: Config,
  role: 'service' | 'command',
  supervision: Supervision,
): Promise<Cluster> {
  const settings = { max_connections: String(COMMANDS_CONNECTIONS + workers * WORKER_CONNECTIONS) };
  return role === 'service' ? openCluster({ dataDir, settings, ...supervision }) : attachCluster({ dataDir });
}

const fromRegions = <T>(make: (region: RegionId) => T): Record<RegionId, T> =>
  Object.fromEntries(REGIONS.map((region) => [region, make(region)])) as Record<RegionId, T>;

/** @param opened by the name of the setting that holds the address */
async function requireReachable(opened: Map<string, Database>, close: () => Promise<void>): Promise<void> {
  for (const [setting, database] of opened) {
    const problem = await problemOf(database);
    if (!problem) continue;
    await close().catch(() => undefined);
    throw new DatabaseUnavailable(`${setting} ${problem}.`);
  }
}

/** Why a service cannot work with that database, to follow its name; undefined when it can. */
async function problemOf({ url, runner }: Database): Promise<string | undefined> {
  try {
    // First, because the runner sets what it finds missing.
    const unsettable = await findUnsupportedSettings(url, READER_SETTINGS);
    if (unsettable.length > 0) {
      const wanted = unsettable.map((name) => `${name}=${READER_SETTINGS[name]}`).join(', ');
      return `leads through a pooler that shares sessions between transactions, so ${wanted} cannot be set: set them for the database user (alter role ... set ...), or pool by session`;
    }
    await runner.run({ name: 'open.ping', text: 'select 1' }, []);
    return undefined;
  } catch (error) {
    const { message, code } = error as Error & { code?: string };
    return `cannot be used: ${message || code}`;
  }
}

/** Errors whose message is all that an operator needs. */
export const isPlainError = (error: unknown): error is Error =>
  error instanceof ClusterError || error instanceof DatabaseUnavailable;
