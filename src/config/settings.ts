import { DEFAULT_CONNECTIONS, MIN_CONNECTIONS } from '../limits/connection-split.ts';
import {
  createChoiceParser,
  createIntegerParser,
  InvalidValue,
  type Parser,
  parseHost,
  parseHttpOrigin,
  parseMailAddress,
  parsePostgresUrl,
  parseProxies,
  parseQuota,
  parseRateLimit,
  parseRatio,
  parseReplicas,
  parseSecretToken,
  parseSmtpUrl,
  parseStoreName,
  parseText,
  parseTokenKeys,
  parseUrl,
  parseWorkers,
} from './parsers.ts';
import { quoteValue } from './quote-value.ts';
import { readSecretFile } from './read-secret-file.ts';

interface Setting<T> {
  /** Default in the reference. */
  default: string;
  description: string;
  /** @param text Undefined for a setting that is absent or empty. */
  parse: (text: string | undefined) => T;
  /** Whether the value may be in a file, which the setting with `_FILE` after its name names. */
  secret?: boolean;
}

/** Creates a setting whose documented default is parsed when it is absent. */
function withDefault<T>(defaultText: string, description: string, parser: Parser<T>): Setting<T> {
  return { default: defaultText, description, parse: (text) => parser(text ?? defaultText) };
}

/** Creates a setting whose value is undefined when it is absent; `defaultText` only documents what happens then. */
function optional<T>(defaultText: string, description: string, parser: Parser<T>): Setting<T | undefined> {
  return {
    default: defaultText,
    description,
    parse: (text) => (text === undefined ? undefined : parser(text)),
  };
}

/** Creates an optional setting with a secret value, which may be in a file: `TOKEN_KEY` also in the file that `TOKEN_KEY_FILE` names. */
function secret<T>(defaultText: string, description: string, parser: Parser<T>): Setting<T | undefined> {
  return { ...optional(defaultText, description, parser), secret: true };
}

const parseSwitch = createChoiceParser('0', '1');

/** Every setting, in the order of the reference. */
const SETTINGS = {
  NODE_ENV: withDefault(
    'development',
    '`production` disables the embedded database and demo data, and enables the strict checks. `test` is `development`.',
    createChoiceParser('development', 'production', 'test'),
  ),
  HOST: optional('127.0.0.1; 0.0.0.0 in production', 'IP address or name of the host to listen on.', parseHost),
  PORT: withDefault('4000', 'Port to listen on.', createIntegerParser(1, 65_535, 'a port number')),
  BASE_URL: optional(
    'http://localhost:PORT',
    'Public address of the API: issuer and audience of the tokens. Required in production; `https:` there, except for loopback.',
    parseHttpOrigin,
  ),
  WORKERS: optional(
    '1; 2 in production',
    'Number of processes that serve requests; `max` for one per core. Those that exit or hang are replaced while the others serve. `1` serves in the started process, which nothing replaces.',
    parseWorkers,
  ),
  WORKER_HEAP_MIB: withDefault(
    '400',
    "MiB of a worker's JavaScript heap (`--max-old-space-size`). Including code and buffers the process stays below 700 MiB.",
    createIntegerParser(10, 999_999, 'a number of MiB'),
  ),
  WORKER_HANG_SECONDS: withDefault(
    '30',
    'Seconds after which a worker with a blocked event loop is killed and replaced; `0` for never.',
    createIntegerParser(0, 9_999, 'a number of seconds'),
  ),
  DATA_DIR: withDefault(
    '.data',
    'Folder of the embedded database, its password, generated keys and `demo.json`.',
    parseText,
  ),
  DATABASE_URL_AU1: secret(
    'embedded',
    'PostgreSQL of region `au1`. If both regions are set, no embedded database is started. Required in production.',
    parsePostgresUrl,
  ),
  DATABASE_URL_US1: secret('embedded', 'PostgreSQL of region `us1`.', parsePostgresUrl),
  DATABASE_URL_AU1_DIRECT: secret(
    'DATABASE_URL_AU1',
    'The same database without a connection pooler, for migrations, jobs and commands.',
    parsePostgresUrl,
  ),
  DATABASE_URL_US1_DIRECT: secret('DATABASE_URL_US1', 'The same for region `us1`.', parsePostgresUrl),
  DATABASE_URL_AU1_OWNER: secret(
    'DATABASE_URL_AU1',
    'The same database as the owner of its tables, for `migrate`, which then gives the user of DATABASE_URL_AU1 the rights that the service needs.',
    parsePostgresUrl,
  ),
  DATABASE_URL_US1_OWNER: secret('DATABASE_URL_US1', 'The same for region `us1`.', parsePostgresUrl),
  DATABASE_URL_AU1_REPLICAS: secret(
    'none',
    'Standbys of region `au1`, with commas between their addresses. Internal queries are read from them.',
    parseReplicas,
  ),
  DATABASE_URL_US1_REPLICAS: secret('none', 'The same for region `us1`.', parseReplicas),
  DATABASE_CONNECTIONS: withDefault(
    String(DEFAULT_CONNECTIONS),
    'Maximum connections of each worker to both databases together, divided between reads and transactions; at least 24.',
    createIntegerParser(MIN_CONNECTIONS, 9_999, 'a number'),
  ),
  MIGRATE: optional(
    'auto; check in production',
    '`auto` applies pending migrations at start; `check` fails to start if one is pending.',
    createChoiceParser('auto', 'check'),
  ),
  DEMO: withDefault(
    '1',
    '`0` loads no demo data into an empty embedded database. Production never loads it.',
    parseSwitch,
  ),
  TOKEN_KEY: secret(
    'generated in DATA_DIR',
    'Key of access tokens and signed URLs (HMAC-SHA256): at least 32 bytes, in base64url. Several keys with commas: the first signs, all verify. Required in production.',
    parseTokenKeys,
  ),
  STORAGE: withDefault(
    'local',
    'Storage of attachments and photos: `local` (DATA_DIR, which all instances must share) or `s3`.',
    createChoiceParser('local', 's3'),
  ),
  S3_BUCKET: optional(
    'none',
    'Bucket, with STORAGE=s3. Browsers upload to it: allow PUT in its CORS rules.',
    parseStoreName,
  ),
  S3_ENDPOINT: optional(
    "Amazon's",
    'Address of another S3-compatible store; buckets are addressed by path.',
    parseHttpOrigin,
  ),
  S3_REGION: withDefault('us-east-1', "The store's own region name.", parseStoreName),
  S3_ACCESS_KEY_ID: optional("the SDK's own search", 'Access key, with S3_SECRET_ACCESS_KEY.', parseText),
  S3_SECRET_ACCESS_KEY: secret('none', 'Secret of the access key.', parseText),
  UPLOAD_QUOTA: withDefault(
    '16384',
    'Maximum MiB of unused and announced uploads and of snapshots per integrator; `0` for no limit.',
    parseQuota,
  ),
  ERASURE_GRACE_DAYS: withDefault(
    '30',
    'Days after `builder erase` in which it can be undone.',
    createIntegerParser(0, 3_650, 'a number of days'),
  ),
  RATE_LIMIT_API: withDefault(
    '1000/10',
    'Requests/seconds per client, or per address without a token; `0` for none.',
    parseRateLimit,
  ),
  RATE_LIMIT_SYNC: withDefault('200/10', 'Photo-report syncs per client.', parseRateLimit),
  RATE_LIMIT_TOKEN: withDefault('120/60', 'Token requests per address and per client.', parseRateLimit),
  SMTP_URL: secret(
    'none',
    'Mail server, such as `smtps://user:password@mail.example.com`. With it, links for choosing a password are sent by e-mail, and the sign-in pages offer them.',
    parseSmtpUrl,
  ),
  MAIL_FROM: optional('none', 'Sender of e-mail; required with SMTP_URL.', parseMailAddress),
  STAFF_OIDC_ISSUER: optional(
    'none',
    'Issuer address of the OpenID Connect provider at which staff sign in to the console; `https:`, except for loopback. Its redirect URI is `BASE_URL` with `/console/sign-in/callback`.',
    parseUrl,
  ),
  STAFF_OIDC_CLIENT_ID: optional('none', 'Client id at the provider.', parseText),
  STAFF_OIDC_CLIENT_SECRET: secret('none', 'Client secret at the provider.', parseText),
  STAFF_PASSWORDS: withDefault(
    '1',
    '`0` opens the console to nobody by password; requires STAFF_OIDC_ISSUER.',
    parseSwitch,
  ),
  STAFF_SESSION_HOURS: withDefault(
    '12',
    'Hours after which a session of the console ends.',
    createIntegerParser(1, 720, 'a number of hours'),
  ),
  TRUST_PROXY: optional(
    'none',
    'Proxies whose `X-Forwarded-For` and `-Proto` headers are trusted: a number of hops, or IP addresses and networks with commas.',
    parseProxies,
  ),
  REQUEST_SECONDS: withDefault(
    '900',
    'Seconds within which a request must be received, equal to the lifetime of an upload URL; its response must be read within twice that.',
    createIntegerParser(1, 9_999, 'a number of seconds'),
  ),
  DRAIN_SECONDS: optional(
    '0; 5 in production',
    'Seconds for which a stopping instance still serves requests, while `/health/ready` returns 503 so that load balancers stop using it.',
    createIntegerParser(0, 9_999, 'a number of seconds'),
  ),
  GRAPHQL_INTROSPECTION: optional('1; 0 in production', '`1` enables GraphQL introspection.', parseSwitch),
  TLS_CERT: optional(
    'none',
    'Certificate file (PEM) for TLS in a trusted network; requires TLS_KEY. Towards the internet a proxy ends TLS.',
    parseText,
  ),
  TLS_KEY: optional('none', 'Key file (PEM) of TLS_CERT.', parseText),
  METRICS_TOKEN: secret(
    'none',
    'Bearer token for `/metrics`. At least 20 characters. Without it metrics are not available in production, and only from loopback otherwise.',
    parseSecretToken,
  ),
  OTEL_EXPORTER_OTLP_ENDPOINT: optional(
    'none',
    'Address of an OpenTelemetry receiver (OTLP as JSON over HTTP), such as http://localhost:4318, to which traces are sent.',
    parseUrl,
  ),
  OTEL_TRACES_SAMPLER_ARG: withDefault(
    '1',
    'Part of the traces that is recorded, from 0 to 1; none that the caller has excluded.',
    parseRatio,
  ),
  BANNER: optional(
    '1 on a terminal and with `npm start`; 0 otherwise',
    '`1` prints the addresses, and demo credentials, when the service is ready.',
    parseSwitch,
  ),
  LOG_LEVEL: withDefault(
    'info',
    '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`.',
    createChoiceParser('fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'),
  ),
} as const;

export type SettingName = keyof typeof SETTINGS;

export type SettingValues = { [Name in SettingName]: ReturnType<(typeof SETTINGS)[Name]['parse']> };

/** An invalid setting. `message` continues a sentence that begins with the name. */
export interface SettingProblem {
  name: SettingName | `${SettingName}_FILE`;
  message: string;
}

/** Environment variables. An empty one is absent. */
export type Environment = Record<string, string | undefined>;

const isSecret = (name: SettingName): boolean => (SETTINGS[name] as Setting<unknown>).secret ?? false;

/** Whether the setting is present, valid or not, itself or as a file. */
export const isSet = (env: Environment, name: SettingName): boolean =>
  Boolean(env[name]) || (isSecret(name) && Boolean(env[`${name}_FILE`]));

/** Parses every setting. The values of settings with a problem are undefined. */
export function parseSettings(env: Environment): { values: Partial<SettingValues>; problems: SettingProblem[] } {
  const values: Partial<Record<SettingName, unknown>> = {};
  const problems: SettingProblem[] = [];
  for (const name of Object.keys(SETTINGS) as SettingName[]) {
    const path = isSecret(name) ? env[`${name}_FILE`] : undefined;
    try {
      if (path && env[name]) throw new InvalidValue(`must not be set together with ${name}`);
      values[name] = SETTINGS[name].parse(path ? readSecret(path) : env[name] || undefined);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      problems.push({ name: path ? `${name}_FILE` : name, message: error.message });
    }
  }
  return { values: values as Partial<SettingValues>, problems };
}

/** Returns the content of the file without line breaks at its end. Throws `InvalidValue`. */
function readSecret(path: string): string {
  const value = readSecretFile(path)
    .toString()
    .replace(/[\r\n]+$/, '');
  if (value === '') throw new InvalidValue('must be the path of a file with the value, and this file is empty');
  return value;
}

/** Settings that are no secrets, but for the mistake of giving a key in place of its path or of its id. */
const HIDDEN: readonly SettingName[] = ['TLS_KEY', 'S3_ACCESS_KEY_ID'];

/** Returns the settings that are given, for the log: secrets only as `set`, except for addresses, which are shown without user and password. */
export const describeSettings = (env: Environment): Record<string, string> =>
  Object.fromEntries(
    (Object.keys(SETTINGS) as SettingName[])
      .filter((name) => isSet(env, name))
      .map((name) => {
        const isHidden = HIDDEN.includes(name) || (isSecret(name) && !(env[name] && name.includes('_URL')));
        return [name, isHidden ? 'set' : quoteValue(env[name]!).slice(1, -1)];
      }),
  );

/** Lists name, default and description of every setting; `file` is the setting that may name a file with the value, or null. */
export const listSettings = () =>
  (Object.keys(SETTINGS) as SettingName[]).map((name) => {
    const { default: value, description } = SETTINGS[name];
    return { name, file: isSecret(name) ? `${name}_FILE` : null, default: value, description };
  });

/** Formats the settings as a Markdown table, for the documentation and `npm run cli -- settings`. */
export function formatSettingsTable(): string {
  const rows = listSettings().map(
    ({ name, file, default: value, description }) =>
      `| \`${name}\`${file ? `, \`${file}\`` : ''} | ${value} | ${description} |`,
  );
  return ['| Setting | Default | What it does |', '|---|---|---|', ...rows].join('\n');
}
