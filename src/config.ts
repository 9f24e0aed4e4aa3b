import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';
import type { RegionId } from './shared/regions.ts';

/** A limit of so many requests in so many seconds; null for none. */
export interface RateLimit {
  requests: number;
  seconds: number;
}

/** An S3-compatible store. */
export interface S3Settings {
  bucket: string;
  /** Null for Amazon's own. */
  endpoint: string | null;
  /** Region of the store, which has nothing to do with `au1` and `us1`. */
  awsRegion: string;
  /** Null lets the SDK find them: instance role, profile. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
}

export interface Config {
  production: boolean;
  host: string;
  port: number;
  baseUrl: string;
  /** Processes that serve. */
  workers: number;
  /** Whether a process of its own holds the port and replaces workers; otherwise one process does everything. */
  supervise: boolean;
  /** Whether one more worker is kept started, to take the place of one that ends. */
  standby: boolean;
  /** Bound of a worker's JavaScript heap. */
  workerHeapMib: number;
  /** Seconds without a turn of its event loop after which a worker is killed; 0 for never. */
  workerHangSeconds: number;
  dataDir: string;
  /** Null in the embedded mode. */
  databaseUrls: Record<RegionId, string> | null;
  /** Addresses of the same databases past a pooler; null in the embedded mode. */
  directUrls: Record<RegionId, string> | null;
  migrate: 'auto' | 'check';
  demo: boolean;
  /** Key of the access tokens' HMAC; null in the embedded mode, which makes one. */
  tokenKey: string | null;
  /** Null keeps attachments and photos in DATA_DIR. */
  s3: S3Settings | null;
  /** Bytes that unused uploads of an integrator may take; null for any number. */
  uploadQuota: number | null;
  rateLimits: { api: RateLimit | null; sync: RateLimit | null; token: RateLimit | null };
  /** Proxies before the service: how many, or their addresses. */
  trustProxy: false | number | string;
  /** Seconds in which a request must have arrived. */
  requestSeconds: number;
  /** Seconds that an instance answers on after it was told to stop. */
  drainSeconds: number;
  /** Whether GraphQL tells its schema. */
  introspection: boolean;
  tls: { cert: string; key: string } | null;
  metricsToken: string | null;
  logLevel: string;
}

/** A setting that does not hold; the message is one line for the operator. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

interface Setting<T> {
  /** As the reference prints it. */
  default: string;
  description: string;
  parse: (value: string | undefined, name: string) => T;
}

const setting = <T>(defaultText: string, description: string, parse: Setting<T>['parse']): Setting<T> => ({
  default: defaultText,
  description,
  parse,
});

const fail = (name: string, problem: string): never => {
  throw new ConfigError(`${name} ${problem}.`);
};

const oneOf =
  <const T extends string>(choices: readonly T[]) =>
  (value: string | undefined, name: string): T | undefined =>
    value === undefined || (choices as readonly string[]).includes(value)
      ? (value as T | undefined)
      : fail(name, `must be ${choices.join(' or ')}, not "${value}"`);

const text = (value: string | undefined) => value;

function rateLimit(fallback: string) {
  return (value: string | undefined, name: string): RateLimit | null => {
    const written = value ?? fallback;
    if (written === '0') return null;
    const match = /^([1-9]\d{0,8})\/([1-9]\d{0,5})$/.exec(written);
    if (!match) return fail(name, `must be requests/seconds, such as ${fallback}, or 0 for no limit`);
    return { requests: Number(match[1]), seconds: Number(match[2]) };
  };
}

function portNumber(value: string | undefined, name: string): number {
  if (value === undefined) return 4000;
  const port = Number(value);
  return /^\d+$/.test(value) && port > 0 && port <= 65535 ? port : fail(name, `must be a port number, not "${value}"`);
}

function seconds(value: string | undefined, name: string): number | undefined {
  if (value === undefined) return undefined;
  return /^\d{1,4}$/.test(value) ? Number(value) : fail(name, `must be a number of seconds, not "${value}"`);
}

/** The number of bytes; null for no limit. */
function mebibytes(value: string | undefined, name: string): number | null {
  if (value !== undefined && !/^\d{1,9}$/.test(value)) fail(name, `must be a number of MiB, not "${value}"`);
  return Number(value ?? 16_384) * 1024 * 1024 || null;
}

function workerCount(value: string | undefined, name: string): number {
  if (value === undefined) return 1;
  if (value === 'max') return availableParallelism();
  return /^[1-9]\d{0,2}$/.test(value)
    ? Number(value)
    : fail(name, `must be a number from 1 to 999 or max, not "${value}"`);
}

function heapMib(value: string | undefined, name: string): number {
  if (value === undefined) return 400;
  return /^[1-9]\d{1,5}$/.test(value) ? Number(value) : fail(name, `must be a number of MiB from 10, not "${value}"`);
}

function postgresUrl(value: string | undefined, name: string): string | undefined {
  if (value === undefined) return undefined;
  return URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol)
    ? value
    : fail(name, 'must be a URL such as postgresql://user:password@host:5432/database');
}

function httpUrl(value: string | undefined, name: string): string | undefined {
  if (value === undefined) return undefined;
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) fail(name, 'must be an http: or https: URL');
  const { origin, pathname, search, hash } = new URL(value);
  if (pathname !== '/' || search || hash) fail(name, 'must have no path, query or fragment');
  return origin;
}

/** Trust in whoever is nearest would let each client say who it is. */
function proxies(value: string | undefined, name: string): false | number | string {
  if (value === undefined || value === 'false') return false;
  if (value === 'true') fail(name, 'must be a number of proxies or their addresses, not "true"');
  return /^\d+$/.test(value) ? Number(value) : value;
}

/** Every setting, in the order of the reference. */
const SETTINGS = {
  NODE_ENV: setting(
    'development',
    '`production` switches the embedded database and demo data off and the strict checks on.',
    text,
  ),
  HOST: setting('127.0.0.1; 0.0.0.0 in production', 'Address to listen on.', text),
  PORT: setting('4000', 'Port to listen on.', portNumber),
  BASE_URL: setting(
    'http://localhost:PORT',
    'Public address of the API: issuer and audience of the tokens. Required in production; `https:` there, except for loopback.',
    httpUrl,
  ),
  WORKERS: setting(
    '1',
    'Processes that serve, each on a core of its own; `max` for as many as there are cores.',
    workerCount,
  ),
  SUPERVISE: setting(
    '0; 1 in production, and with several WORKERS',
    '`1` runs the workers under a process that holds the port and replaces a worker that ends or hangs. `0` serves in one process.',
    oneOf(['0', '1']),
  ),
  STANDBY: setting(
    '0; 1 in production',
    '`1` keeps one more supervised worker started, which takes the place of one that ends at once; otherwise a start takes its time.',
    oneOf(['0', '1']),
  ),
  WORKER_HEAP_MIB: setting(
    '400',
    "MiB of a supervised worker's JavaScript heap (`--max-old-space-size`). With code and buffers it then has less than 700 MiB.",
    heapMib,
  ),
  WORKER_HANG_SECONDS: setting(
    '30',
    'Seconds without a turn of its event loop after which a supervised worker is killed and replaced; `0` for never.',
    seconds,
  ),
  DATA_DIR: setting('.data', 'Folder of the embedded database, its password, generated keys and `demo.json`.', text),
  DATABASE_URL_AU1: setting(
    'embedded',
    'PostgreSQL of region `au1`. With both set nothing embedded is started. Required in production.',
    postgresUrl,
  ),
  DATABASE_URL_US1: setting('embedded', 'PostgreSQL of region `us1`.', postgresUrl),
  DATABASE_URL_AU1_DIRECT: setting(
    'DATABASE_URL_AU1',
    'The same database past a pooler, for migrations, jobs and commands.',
    postgresUrl,
  ),
  DATABASE_URL_US1_DIRECT: setting('DATABASE_URL_US1', 'The same for region `us1`.', postgresUrl),
  MIGRATE: setting(
    'auto; check in production',
    '`auto` brings the databases up to date at start; `check` refuses to start while a migration is pending.',
    oneOf(['auto', 'check']),
  ),
  DEMO: setting(
    '1',
    '`0` loads no demo data into an empty embedded database. Production never loads it.',
    oneOf(['0', '1']),
  ),
  TOKEN_KEY: setting(
    'generated in DATA_DIR',
    'Key of the access tokens (HMAC-SHA256): at least 32 bytes, in base64url. Required in production.',
    tokenKey,
  ),
  STORAGE: setting(
    'local',
    'Where attachments and photos are kept: `local` (DATA_DIR, which all instances then share) or `s3`.',
    oneOf(['local', 's3']),
  ),
  S3_BUCKET: setting('none', 'Bucket, with STORAGE=s3. Browsers upload to it: allow PUT in its CORS rules.', text),
  S3_ENDPOINT: setting("Amazon's", 'Address of another S3-compatible store, addressed by path.', httpUrl),
  S3_REGION: setting('us-east-1', "The store's own name of its region.", text),
  S3_ACCESS_KEY_ID: setting("the SDK's own search", 'Access key, with S3_SECRET_ACCESS_KEY.', text),
  S3_SECRET_ACCESS_KEY: setting('none', 'Secret of the access key.', text),
  UPLOAD_QUOTA: setting(
    '16384',
    'MiB that uploads of an integrator may take which no photo uses, with those that are announced; `0` for any number.',
    mebibytes,
  ),
  RATE_LIMIT_API: setting(
    '1000/10',
    'Requests/seconds per client, or per address without a token; `0` for none.',
    rateLimit('1000/10'),
  ),
  RATE_LIMIT_SYNC: setting('200/10', 'Photo-report syncs per client.', rateLimit('200/10')),
  RATE_LIMIT_TOKEN: setting('120/60', 'Token requests per address and per client.', rateLimit('120/60')),
  TRUST_PROXY: setting(
    'none',
    'Proxies whose `X-Forwarded-For` and `-Proto` count: a number of hops, or addresses with commas.',
    proxies,
  ),
  REQUEST_SECONDS: setting(
    '900',
    'Seconds in which a request must have arrived, as long as an upload URL lives; in twice that its response must be taken.',
    seconds,
  ),
  DRAIN_SECONDS: setting(
    '0; 5 in production',
    'Seconds that an instance which is told to stop answers on, while `/health/ready` is 503 already and balancers turn away.',
    seconds,
  ),
  GRAPHQL_INTROSPECTION: setting('1; 0 in production', '`1` lets GraphQL tell its schema.', oneOf(['0', '1'])),
  TLS_CERT: setting('none', 'Certificate file (PEM), to speak TLS without a proxy; with TLS_KEY.', text),
  TLS_KEY: setting('none', 'Key file (PEM) of TLS_CERT.', text),
  METRICS_TOKEN: setting(
    'none',
    'Bearer token for `/metrics`. Without it nobody reads them in production, and only loopback elsewhere.',
    text,
  ),
  LOG_LEVEL: setting(
    'info',
    '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  ),
} as const;

function tokenKey(value: string | undefined, name: string): string | undefined {
  if (value === undefined) return undefined;
  return Buffer.from(value, 'base64url').length >= 32 ? value : fail(name, 'must hold at least 32 bytes in base64url');
}

function s3Settings(values: Values): S3Settings | null {
  const { STORAGE, S3_BUCKET, S3_ENDPOINT, S3_REGION, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = values;
  if (STORAGE !== 's3') return null;
  if (Boolean(S3_ACCESS_KEY_ID) !== Boolean(S3_SECRET_ACCESS_KEY)) {
    fail('S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY', 'belong together');
  }
  const credentials =
    S3_ACCESS_KEY_ID && S3_SECRET_ACCESS_KEY
      ? { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY }
      : null;
  return {
    bucket: S3_BUCKET ?? fail('S3_BUCKET', 'is required with STORAGE=s3'),
    endpoint: S3_ENDPOINT ?? null,
    awsRegion: S3_REGION ?? 'us-east-1',
    credentials,
  };
}

type Values = { [K in keyof typeof SETTINGS]: ReturnType<(typeof SETTINGS)[K]['parse']> };

/** Reads and checks the whole environment; throws `ConfigError` at the first setting that does not hold. */
export function loadConfig(env: Record<string, string | undefined> = process.env): Config {
  const entries = Object.entries(SETTINGS).map(([name, { parse }]) => [name, parse(env[name] || undefined, name)]);
  const values = Object.fromEntries(entries) as Values;
  const production = values.NODE_ENV === 'production';
  const au1 = values.DATABASE_URL_AU1;
  const us1 = values.DATABASE_URL_US1;
  if (Boolean(au1) !== Boolean(us1)) {
    fail(au1 ? 'DATABASE_URL_US1' : 'DATABASE_URL_AU1', 'is missing: set both addresses or neither');
  }
  for (const name of ['DATABASE_URL_AU1_DIRECT', 'DATABASE_URL_US1_DIRECT'] as const) {
    if (values[name] && !au1) fail(name, 'needs DATABASE_URL_AU1 and DATABASE_URL_US1');
  }
  if (Boolean(values.TLS_CERT) !== Boolean(values.TLS_KEY)) fail('TLS_CERT and TLS_KEY', 'belong together');
  if (values.SUPERVISE === '0' && values.WORKERS > 1) fail('SUPERVISE', 'cannot be 0 with several WORKERS');
  const baseUrl = values.BASE_URL ?? `${values.TLS_CERT ? 'https' : 'http'}://localhost:${values.PORT}`;
  if (production) {
    if (!au1) fail('DATABASE_URL_AU1', 'is required in production');
    if (!values.TOKEN_KEY) fail('TOKEN_KEY', 'is required in production');
    if (!values.BASE_URL) fail('BASE_URL', 'is required in production');
    if (baseUrl.startsWith('http:') && !isLoopback(new URL(baseUrl).hostname))
      fail('BASE_URL', 'must be https: in production');
  }
  return {
    production,
    host: values.HOST ?? (production ? '0.0.0.0' : '127.0.0.1'),
    port: values.PORT,
    baseUrl,
    workers: values.WORKERS,
    supervise: values.WORKERS > 1 || (values.SUPERVISE ?? (production ? '1' : '0')) === '1',
    standby: (values.STANDBY ?? (production ? '1' : '0')) === '1',
    workerHeapMib: values.WORKER_HEAP_MIB,
    workerHangSeconds: values.WORKER_HANG_SECONDS ?? 30,
    dataDir: resolve(values.DATA_DIR ?? '.data'),
    databaseUrls: au1 && us1 ? { au1, us1 } : null,
    directUrls:
      au1 && us1 ? { au1: values.DATABASE_URL_AU1_DIRECT ?? au1, us1: values.DATABASE_URL_US1_DIRECT ?? us1 } : null,
    migrate: values.MIGRATE ?? (production ? 'check' : 'auto'),
    demo: !production && !au1 && values.DEMO !== '0',
    tokenKey: values.TOKEN_KEY ?? null,
    s3: s3Settings(values),
    uploadQuota: values.UPLOAD_QUOTA,
    rateLimits: { api: values.RATE_LIMIT_API, sync: values.RATE_LIMIT_SYNC, token: values.RATE_LIMIT_TOKEN },
    trustProxy: values.TRUST_PROXY,
    requestSeconds: values.REQUEST_SECONDS || 900,
    drainSeconds: values.DRAIN_SECONDS ?? (production ? 5 : 0),
    introspection: (values.GRAPHQL_INTROSPECTION ?? (production ? '0' : '1')) === '1',
    tls: values.TLS_CERT && values.TLS_KEY ? { cert: values.TLS_CERT, key: values.TLS_KEY } : null,
    metricsToken: values.METRICS_TOKEN ?? null,
    logLevel: values.LOG_LEVEL ?? 'info',
  };
}

export const isLoopback = (hostname: string) => /^(localhost|127(\.\d+){3}|\[?::1\]?)$/.test(hostname);

/** Every setting, in the order of the reference. */
export const settingsList = () =>
  Object.entries(SETTINGS).map(([name, { default: value, description }]) => ({ name, default: value, description }));

/** The settings as a Markdown table, for docs/operations.md and `npm run cli -- settings`. */
export function settingsReference(): string {
  const rows = settingsList().map(
    ({ name, default: value, description }) => `| \`${name}\` | ${value} | ${description} |`,
  );
  return ['| Setting | Default | What it does |', '|---|---|---|', ...rows].join('\n');
}
