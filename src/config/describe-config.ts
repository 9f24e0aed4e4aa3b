import type { Config } from '../config.ts';
import { describeServer } from '../shared/postgres-url.ts';

/** Returns the configuration for the log: passwords, keys and tokens are left out, or replaced by whether they are set. */
export function describeConfig(config: Config): Record<string, unknown> {
  const {
    databaseUrls,
    directUrls,
    ownerUrls,
    replicaUrls,
    tokenKeys,
    metricsToken,
    mail,
    s3,
    tls,
    tracing,
    ...others
  } = config;
  return {
    ...others,
    databases: databaseUrls ? mapValues(databaseUrls, describeServer) : 'embedded',
    directDatabases: directUrls ? mapValues(directUrls, describeServer) : 'embedded',
    owners: ownerUrls && mapValues(ownerUrls, describeServer),
    replicas: mapValues(replicaUrls, (urls) => urls.map(describeServer)),
    tokenKeys: tokenKeys?.length ?? 'in DATA_DIR',
    metricsToken: metricsToken === null ? null : 'set',
    mail: mail && { host: new URL(mail.url).host, from: mail.from },
    s3: s3 && { bucket: s3.bucket, endpoint: s3.endpoint, awsRegion: s3.awsRegion },
    tls: tls !== null,
    tracing: tracing && { ...tracing, endpoint: new URL(tracing.endpoint).origin },
  };
}

const mapValues = <T, R>(record: Record<string, T>, convert: (value: T) => R): Record<string, R> =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [name, convert(value)]));
