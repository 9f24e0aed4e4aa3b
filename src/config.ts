import { resolve } from 'node:path';
import { quoteValue } from './config/quote-value.ts';
import {
  describeSettings,
  type Environment,
  isSet,
  parseSettings,
  type SettingName,
  type SettingProblem,
  type SettingValues,
} from './config/settings.ts';
import { OperatorError } from './shared/operator-error.ts';

/** The settings as the service uses them. `src/config/settings.ts` describes each. */
export type Config = ReturnType<typeof toConfig>;

/** An S3-compatible store. */
export type S3Settings = ReturnType<typeof toS3Settings>;

/** The OpenID Connect provider of staff users. */
export type OpenIdSettings = ReturnType<typeof toOpenIdSettings>;

/** Where traces are sent, and which part of them. */
export type TracingSettings = NonNullable<Config['tracing']>;

/** Invalid settings. The message has one line for each, for the operator. */
export class ConfigError extends OperatorError {
  override name = 'ConfigError';

  constructor(readonly problems: readonly SettingProblem[]) {
    super(problems.map(({ name, message }) => `${name} ${message}.`).join('\n'));
  }
}

/** Returns the settings of this process that are given, for the log. */
export const describeEnvironment = () => describeSettings(process.env);

/** Reads and validates all settings. Throws `ConfigError` with every invalid one. */
export function loadConfig(env: Environment = process.env): Config {
  const { values, problems } = parseSettings(env);
  const all = [...problems, ...findConflicts(values, (name) => isSet(env, name))];
  if (all.length > 0) throw new ConfigError(all);
  return toConfig(values as SettingValues, env.npm_lifecycle_event === 'start');
}

/**
 * Returns the problems of settings that do not fit together.
 *
 * @param isSet Whether a setting is present, valid or not: an invalid one is not reported a second time as missing.
 */
function findConflicts(values: Partial<SettingValues>, isSet: (name: SettingName) => boolean): SettingProblem[] {
  const problems: SettingProblem[] = [];
  const report = (name: SettingName, message: string) => problems.push({ name, message });
  const requireTogether = (first: SettingName, second: SettingName) => {
    if (isSet(first) && !isSet(second)) report(second, `is required with ${first}`);
    if (isSet(second) && !isSet(first)) report(first, `is required with ${second}`);
  };
  if (values.NODE_ENV === 'production') {
    for (const name of ['DATABASE_URL_AU1', 'DATABASE_URL_US1', 'TOKEN_KEY', 'BASE_URL'] as const) {
      if (!isSet(name)) report(name, 'is required in production');
    }
    const { BASE_URL: baseUrl } = values;
    if (baseUrl?.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname)) {
      report('BASE_URL', `must be https: in production, not ${quoteValue(baseUrl)}`);
    }
  } else {
    requireTogether('DATABASE_URL_AU1', 'DATABASE_URL_US1');
  }
  if (!isSet('DATABASE_URL_AU1') && !isSet('DATABASE_URL_US1')) {
    for (const use of ['DIRECT', 'OWNER', 'REPLICAS'] as const) {
      for (const name of [`DATABASE_URL_AU1_${use}`, `DATABASE_URL_US1_${use}`] as const)
        if (isSet(name)) report(name, 'requires DATABASE_URL_AU1 and DATABASE_URL_US1');
    }
  }
  requireTogether('DATABASE_URL_AU1_OWNER', 'DATABASE_URL_US1_OWNER');
  requireTogether('TLS_CERT', 'TLS_KEY');
  requireTogether('SMTP_URL', 'MAIL_FROM');
  requireTogether('STAFF_OIDC_ISSUER', 'STAFF_OIDC_CLIENT_ID');
  requireTogether('STAFF_OIDC_ISSUER', 'STAFF_OIDC_CLIENT_SECRET');
  const { STAFF_OIDC_ISSUER: issuer, STAFF_PASSWORDS: staffPasswords } = values;
  if (issuer?.startsWith('http:') && !isLoopback(new URL(issuer).hostname)) {
    report('STAFF_OIDC_ISSUER', `must be https:, not ${quoteValue(issuer)}`);
  }
  if (staffPasswords === '0' && !isSet('STAFF_OIDC_ISSUER'))
    report('STAFF_OIDC_ISSUER', 'is required with STAFF_PASSWORDS=0');
  if (values.STORAGE === 's3') {
    if (!isSet('S3_BUCKET')) report('S3_BUCKET', 'is required with STORAGE=s3');
    requireTogether('S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY');
  }
  return problems;
}

/** @param isNpmStart Whether npm runs the service, whose output a person reads. */
function toConfig(values: SettingValues, isNpmStart: boolean) {
  const production = values.NODE_ENV === 'production';
  const { DATABASE_URL_AU1: au1, DATABASE_URL_US1: us1 } = values;
  const { DATABASE_URL_AU1_OWNER: ownerAu1, DATABASE_URL_US1_OWNER: ownerUs1 } = values;
  const isEnabled = (value: '0' | '1' | undefined, fallback: boolean) => (value ? value === '1' : fallback);
  return {
    production,
    host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: values.PORT,
    baseUrl: values.BASE_URL ?? `${values.TLS_CERT ? 'https' : 'http'}://localhost:${values.PORT}`,
    // With 1 the started process serves, otherwise it supervises the workers.
    workers: values.WORKERS ?? (production ? 2 : 1),
    workerHeapMib: values.WORKER_HEAP_MIB,
    workerHangSeconds: values.WORKER_HANG_SECONDS,
    dataDir: resolve(values.DATA_DIR),
    // Null for the embedded databases.
    databaseUrls: au1 && us1 ? { au1, us1 } : null,
    // The same databases without a connection pooler.
    directUrls:
      au1 && us1 ? { au1: values.DATABASE_URL_AU1_DIRECT ?? au1, us1: values.DATABASE_URL_US1_DIRECT ?? us1 } : null,
    ownerUrls: ownerAu1 && ownerUs1 ? { au1: ownerAu1, us1: ownerUs1 } : null,
    replicaUrls: { au1: values.DATABASE_URL_AU1_REPLICAS ?? [], us1: values.DATABASE_URL_US1_REPLICAS ?? [] },
    databaseConnections: values.DATABASE_CONNECTIONS,
    migrate: values.MIGRATE ?? (production ? 'check' : 'auto'),
    demo: !production && !au1 && values.DEMO === '1',
    // The first signs, all verify. Null to generate one in DATA_DIR.
    tokenKeys: values.TOKEN_KEY ?? null,
    // Null stores attachments and photos in DATA_DIR.
    s3: values.STORAGE === 's3' ? toS3Settings(values) : null,
    // Bytes; null for no limit.
    uploadQuota: values.UPLOAD_QUOTA,
    erasureGraceDays: values.ERASURE_GRACE_DAYS,
    rateLimits: { api: values.RATE_LIMIT_API, sync: values.RATE_LIMIT_SYNC, token: values.RATE_LIMIT_TOKEN },
    trustProxy: values.TRUST_PROXY ?? false,
    requestSeconds: values.REQUEST_SECONDS,
    drainSeconds: values.DRAIN_SECONDS ?? (production ? 5 : 0),
    introspection: isEnabled(values.GRAPHQL_INTROSPECTION, !production),
    tls: values.TLS_CERT && values.TLS_KEY ? { cert: values.TLS_CERT, key: values.TLS_KEY } : null,
    metricsToken: values.METRICS_TOKEN ?? null,
    tracing: values.OTEL_EXPORTER_OTLP_ENDPOINT
      ? { endpoint: values.OTEL_EXPORTER_OTLP_ENDPOINT, sampledRatio: values.OTEL_TRACES_SAMPLER_ARG }
      : null,
    // Null to decide by the terminal.
    banner: values.BANNER ? values.BANNER === '1' : isNpmStart || null,
    mail: values.SMTP_URL && values.MAIL_FROM ? { url: values.SMTP_URL, from: values.MAIL_FROM } : null,
    staff: {
      openId: values.STAFF_OIDC_ISSUER ? toOpenIdSettings(values) : null,
      allowsPasswords: values.STAFF_PASSWORDS === '1',
      sessionSeconds: values.STAFF_SESSION_HOURS * 3600,
    },
    logLevel: values.LOG_LEVEL,
  };
}

const toOpenIdSettings = (values: SettingValues) => ({
  issuer: values.STAFF_OIDC_ISSUER!,
  clientId: values.STAFF_OIDC_CLIENT_ID!,
  clientSecret: values.STAFF_OIDC_CLIENT_SECRET!,
});

function toS3Settings(values: SettingValues) {
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = values;
  return {
    bucket: values.S3_BUCKET!,
    // Null for Amazon S3.
    endpoint: values.S3_ENDPOINT ?? null,
    // The store's own name, unrelated to `au1` and `us1`.
    awsRegion: values.S3_REGION,
    // Null for the SDK's default providers, such as an instance role.
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey } : null,
  };
}

export const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname);
