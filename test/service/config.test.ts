import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listSettings } from '../../src/config/settings.ts';
import { ConfigError, loadConfig } from '../../src/config.ts';
import { serverOptions } from '../../src/http/options.ts';
import { TLS_SETTINGS } from '../support/tls-certificate.ts';

const DATABASES = {
  DATABASE_URL_AU1: 'postgresql://api:secret@db.example.com/au1',
  DATABASE_URL_US1: 'postgresql://api:secret@db.example.com/us1',
};

const PRODUCTION = {
  NODE_ENV: 'production',
  BASE_URL: 'https://api.example.com',
  TOKEN_KEY: randomBytes(32).toString('base64url'),
  ...DATABASES,
};

const S3 = { STORAGE: 's3', S3_BUCKET: 'attachments' };

describe('the settings', () => {
  it('default to a development service with embedded databases and demo data (LIM-1, LIM-2, LIM-3, LIM-22, LIM-23)', () => {
    expect(loadConfig({})).toMatchObject({
      production: false,
      host: '127.0.0.1',
      port: 4000,
      baseUrl: 'http://localhost:4000',
      databaseUrls: null,
      migrate: 'auto',
      demo: true,
      rateLimits: {
        api: { requests: 1000, seconds: 10 },
        sync: { requests: 200, seconds: 10 },
        token: { requests: 120, seconds: 60 },
      },
      requestSeconds: 900,
      uploadQuota: 16 * 1024 ** 3,
    });
  });

  it('have their defaults when they are empty', () => {
    expect(loadConfig({ PORT: '', BASE_URL: '' })).toMatchObject({ port: 4000, baseUrl: 'http://localhost:4000' });
  });

  it('disable the embedded databases and the demo data when both databases are set', () => {
    expect(loadConfig(DATABASES)).toMatchObject({ databaseUrls: { au1: DATABASES.DATABASE_URL_AU1 }, demo: false });
  });

  it('start a worker per core with WORKERS=max', () => {
    expect(loadConfig({ WORKERS: '3' }).workers).toBe(3);
    expect(loadConfig({ WORKERS: 'max' }).workers).toBe(availableParallelism());
  });

  it('start two workers in production, of which one serves while the other is replaced', () => {
    expect(loadConfig({}).workers).toBe(1);
    expect(loadConfig(PRODUCTION).workers).toBe(2);
    expect(loadConfig({ ...PRODUCTION, WORKERS: '1' }).workers).toBe(1);
  });

  it('disable a rate limit with 0 (LIM-1)', () => {
    expect(loadConfig({ RATE_LIMIT_API: '0' }).rateLimits.api).toBeNull();
  });

  const invalid: [string, Record<string, string>, string][] = [
    ['a port that is not a number', { PORT: 'http' }, 'PORT'],
    ['port 0', { PORT: '0' }, 'PORT'],
    ['a port beyond 65535', { PORT: '70000' }, 'PORT'],
    ['one database without the other', { DATABASE_URL_AU1: DATABASES.DATABASE_URL_AU1 }, 'DATABASE_URL_US1'],
    [
      'a direct address without the databases',
      { DATABASE_URL_AU1_DIRECT: DATABASES.DATABASE_URL_AU1 },
      'DATABASE_URL_AU1_DIRECT',
    ],
    ['a database URL that is not of PostgreSQL', { ...DATABASES, DATABASE_URL_US1: 'mysql://x/y' }, 'DATABASE_URL_US1'],
    [
      'a database URL without a database',
      { ...DATABASES, DATABASE_URL_US1: 'postgresql://u:p@host/' },
      'DATABASE_URL_US1',
    ],
    ['a base address with a path', { BASE_URL: 'https://example.com/api' }, 'BASE_URL'],
    ['a rate limit without a window', { RATE_LIMIT_TOKEN: '120' }, 'RATE_LIMIT_TOKEN'],
    ['an unknown migration mode', { MIGRATE: 'yes' }, 'MIGRATE'],
    ['an empty heap', { WORKER_HEAP_MIB: '0' }, 'WORKER_HEAP_MIB'],
    ['a short token key', { TOKEN_KEY: 'c2hvcnQ' }, 'TOKEN_KEY'],
    ['a token key of one character', { TOKEN_KEY: 'a'.repeat(43) }, 'TOKEN_KEY'],
    ['a short metrics token', { METRICS_TOKEN: 'a' }, 'METRICS_TOKEN'],
    ['a metrics token of few characters', { METRICS_TOKEN: 'secret'.repeat(5) }, 'METRICS_TOKEN'],
    ['an unknown environment', { NODE_ENV: 'Production' }, 'NODE_ENV'],
    ['a secret in a file that does not exist', { METRICS_TOKEN_FILE: '/nowhere/token' }, 'METRICS_TOKEN_FILE'],
    ['a certificate without its key', { TLS_CERT: 'cert.pem' }, 'TLS_KEY'],
    ['an S3 access key without its secret', { ...S3, S3_ACCESS_KEY_ID: 'a' }, 'S3_SECRET_ACCESS_KEY'],
    ['S3 without a bucket', { STORAGE: 's3' }, 'S3_BUCKET'],
    ['an address in place of a bucket', { ...S3, S3_BUCKET: 'https://id:key@photos.example' }, 'S3_BUCKET'],
    [
      'an address in place of a region of the store',
      { ...S3, S3_REGION: 'https://id:key@photos.example' },
      'S3_REGION',
    ],
    ['trust in every proxy', { TRUST_PROXY: 'true' }, 'TRUST_PROXY'],
    ['a proxy that is no address', { TRUST_PROXY: 'proxy.example.com' }, 'TRUST_PROXY'],
    ['a network of no bits', { TRUST_PROXY: '10.0.0.1, 0.0.0.0/0' }, 'TRUST_PROXY'],
    ['a network of too many bits', { TRUST_PROXY: '10.0.0.0/33' }, 'TRUST_PROXY'],
    ['a host with a port', { HOST: 'localhost:4000' }, 'HOST'],
    ['no seconds for a request', { REQUEST_SECONDS: '0' }, 'REQUEST_SECONDS'],
    ['no workers', { WORKERS: '0' }, 'WORKERS'],
    ['a number of workers that is not a number', { WORKERS: 'all' }, 'WORKERS'],
    ['an unknown log level', { LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
  ];

  it.each(invalid)('reject %s in one line that names the setting', (_, env, name) => {
    expect(() => loadConfig(env)).toThrow(ConfigError);
    expect(() => loadConfig(env)).toThrow(new RegExp(`^${name} [^\n]+\\.$`));
  });
});

describe('a host or proxy', () => {
  it.each(['HOST', 'TRUST_PROXY'])('%s with credentials is rejected without them', (name) => {
    for (const value of ['u:SECRET@h', 'http://u:SECRET@h']) {
      expect(() => loadConfig({ [name]: value })).toThrow(new RegExp(`^${name} must be [^\n]*…@h"\\.$`));
      expect(() => loadConfig({ [name]: value })).not.toThrow('SECRET');
    }
  });

  it.each(['2', '10.0.0.1', '10.0.0.0/8, ::1,fd00::/8', 'loopback,uniquelocal'])('is trusted as %s', (value) => {
    const { trustProxy } = serverOptions(loadConfig({ TRUST_PROXY: value }));
    expect(() => fastify({ trustProxy })).not.toThrow();
  });

  it.each(['::', '0.0.0.0', 'localhost', 'api-1.example.com'])('is listened on as %s', (HOST) => {
    expect(loadConfig({ HOST }).host).toBe(HOST);
  });
});

describe('several invalid settings', () => {
  const messageFor = (env: Record<string, string>) => {
    try {
      loadConfig(env);
    } catch (error) {
      return (error as ConfigError).message.split('\n');
    }
  };

  it('are all reported, each with its name, its value and what is valid', () => {
    const env = { PORT: 'http', WORKERS: '0', STORAGE: 'ftp', RATE_LIMIT_API: '1000', LOG_LEVEL: 'loud' };
    expect(messageFor(env)).toEqual([
      'PORT must be a port number from 1 to 65535, not "http".',
      'WORKERS must be a number from 1 to 999, or max, not "0".',
      'STORAGE must be local or s3, not "ftp".',
      'RATE_LIMIT_API must be requests/seconds such as 1000/10, or 0 for no limit, not "1000".',
      'LOG_LEVEL must be fatal, error, warn, info, debug, trace or silent, not "loud".',
    ]);
  });

  it('are reported together with settings that do not fit together', () => {
    const env = { MIGRATE: 'yes', TLS_CERT: 'cert.pem', ...S3, S3_BUCKET: '' };
    expect(messageFor(env)).toEqual([
      'MIGRATE must be auto or check, not "yes".',
      'TLS_KEY is required with TLS_CERT.',
      'S3_BUCKET is required with STORAGE=s3.',
    ]);
  });

  it('are reported with everything that production requires', () => {
    expect(messageFor({ NODE_ENV: 'production', DRAIN_SECONDS: 'soon' })).toEqual([
      'DRAIN_SECONDS must be a number of seconds from 0 to 9999, not "soon".',
      ...['DATABASE_URL_AU1', 'DATABASE_URL_US1', 'TOKEN_KEY', 'BASE_URL'].map(
        (name) => `${name} is required in production.`,
      ),
    ]);
  });

  it('are reported once: an invalid setting is not missing as well', () => {
    expect(messageFor({ ...PRODUCTION, DATABASE_URL_AU1: 'mysql://x/y', TOKEN_KEY: 'c2hvcnQ' })).toEqual([
      expect.stringMatching(
        /^DATABASE_URL_AU1 must be a URL such as postgresql:.* and its value is of another scheme\.$/,
      ),
      expect.stringMatching(/^TOKEN_KEY must have at least 32 bytes in base64url, not 5; /),
    ]);
  });

  it('are reported without secrets', () => {
    const secret = 'hunter2';
    const env = { DATABASE_URL_AU1: `mysql://api:${secret}@db/x`, DATABASE_URL_US1: secret, TOKEN_KEY: secret };
    expect(messageFor(env)).toHaveLength(3);
    expect(messageFor(env)!.join()).not.toContain(secret);
  });
});

describe('no message about a setting', () => {
  const SECRET = 'hunter2SECRET';
  const VALUES = [
    ...[`https://sam:${SECRET}@host.example`, `https://sam:${SECRET}@host.example/path`, `ftp://sam:${SECRET}@host`],
    ...[
      `sam:${SECRET}@host`,
      `sam@host.example:${SECRET}@host`,
      `postgresql://sam:1/${SECRET}@host/x`,
      `postgres://sam:${SECRET}@[`,
    ],
    ...[`ftp://host.example/?key=${SECRET}`, `https://host.example/#${SECRET}`, `https://h@st:${SECRET}@host/p`],
    ...[`https://sam:${SECRET}#x@host.example`, `https://sam:${SECRET}?x@host.example`],
  ];
  const settings = listSettings();

  it.each(VALUES)('contains the password of %s', (value) => {
    for (const { name, file } of settings) {
      for (const env of [{ [name]: value }, { [name]: value, NODE_ENV: 'production' }, file ? { [file]: value } : {}]) {
        let message = '';
        try {
          loadConfig(env as Record<string, string>);
        } catch (error) {
          message = (error as Error).message;
        }
        expect(message, name).not.toContain(SECRET);
      }
    }
  });

  it.each(settings.flatMap(({ file }) => file ?? []))(
    'contains the value of %s, where it is the secret itself',
    (name) => {
      const key = randomBytes(32).toString('base64');
      expect(() => loadConfig({ [name]: key })).toThrow(`${name} must be the path of a file that can be read (ENOENT)`);
      expect(() => loadConfig({ [name]: key })).not.toThrow(key);
    },
  );

  it('contains a character that controls the terminal', () => {
    expect(() => loadConfig({ LOG_LEVEL: '\u001b[2J\n\u202e' })).toThrow('not "\\u001b[2J\\u000a\\u202e".');
  });

  it('contains the path of TLS_KEY, which may be the key itself', () => {
    const key = '-----BEGIN PRIVATE KEY-----';
    const { serverFactory } = serverOptions(loadConfig({ TLS_CERT: key, TLS_KEY: key }));
    expect(() => serverFactory!(() => undefined, {})).toThrow(
      'TLS_CERT must be the path of a file that can be read (ENOENT).',
    );
  });

  it('is one line for files that are no certificate and its key', () => {
    const folder = mkdtempSync(join(tmpdir(), 'builder-api-tls-'));
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const pem = { type: 'pkcs8', format: 'pem' } as const;
    const keys = {
      'other.pem': privateKey.export(pem),
      'locked.pem': privateKey.export({ ...pem, cipher: 'aes-128-cbc', passphrase: 'secret' }),
      'none.pem': 'no key',
    };
    for (const [name, key] of Object.entries(keys)) {
      writeFileSync(join(folder, name), key);
      const { serverFactory } = serverOptions(loadConfig({ ...TLS_SETTINGS, TLS_KEY: join(folder, name) }));
      const message = /^TLS_KEY must be the key of TLS_CERT, both in PEM and without a passphrase \(\w+\)\.$/;
      expect(() => serverFactory!(() => undefined, {})).toThrow(message);
    }
    rmSync(folder, { recursive: true });
  });
});

describe('TOKEN_KEY', () => {
  const [one, other] = [randomBytes(32).toString('base64url'), randomBytes(32).toString('hex')];
  const problemOf = (key: string) => {
    try {
      return loadConfig({ TOKEN_KEY: key }).tokenKeys;
    } catch (error) {
      return (error as ConfigError).message;
    }
  };

  it('is one key or several with commas, in base64url, base64 or hexadecimal', () => {
    expect(loadConfig({ TOKEN_KEY: one }).tokenKeys).toEqual([one]);
    const base64 = randomBytes(32).toString('base64');
    expect(loadConfig({ TOKEN_KEY: `${one},${other},${base64}` }).tokenKeys).toEqual([one, other, base64]);
  });

  it.each([
    [`${one},`, 'is 2 keys with commas, of which key 2 must not be empty'],
    [
      `${one}, ${other}`,
      'is 2 keys with commas, of which key 2 must have only the characters of base64url, without spaces',
    ],
    [
      `${one},c2hvcnQ`,
      'is 2 keys with commas, of which key 2 must have at least 32 bytes in base64url, not 5; generate one with: openssl rand -hex 32',
    ],
    [`${one},${other},${one}`, 'is 3 keys with commas, of which key 3 must not be key 1 again'],
    [`${one}!`, 'must have only the characters of base64url, without spaces'],
  ])('is rejected with the number of the wrong key (%#)', (key, problem) => {
    expect(problemOf(key)).toBe(`TOKEN_KEY ${problem}.`);
  });
});

describe('a secret in a file', () => {
  let folder: string;
  const aFile = (name: string, content: string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'builder-api-secrets-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is read without the line break at its end', () => {
    const env = {
      ...{ ...PRODUCTION, ...S3, TOKEN_KEY: '', DATABASE_URL_AU1: '', DATABASE_URL_US1: '', S3_ACCESS_KEY_ID: 'id' },
      TOKEN_KEY_FILE: aFile('key', `${PRODUCTION.TOKEN_KEY}\n`),
      DATABASE_URL_AU1_FILE: aFile('au1', `${DATABASES.DATABASE_URL_AU1}\r\n`),
      DATABASE_URL_US1_FILE: aFile('us1', DATABASES.DATABASE_URL_US1),
      METRICS_TOKEN_FILE: aFile('metrics', 'metrics-token-of-a-test\n'),
      S3_SECRET_ACCESS_KEY_FILE: aFile('s3', 's3-secret\n'),
    };
    expect(loadConfig(env)).toMatchObject({
      tokenKeys: [PRODUCTION.TOKEN_KEY],
      databaseUrls: { au1: DATABASES.DATABASE_URL_AU1, us1: DATABASES.DATABASE_URL_US1 },
      metricsToken: 'metrics-token-of-a-test',
      s3: { credentials: { accessKeyId: 'id', secretAccessKey: 's3-secret' } },
    });
  });

  it('is rejected, with the name of the setting and without the secret, when it cannot be used', () => {
    const problemOf = (env: Record<string, string>) => {
      try {
        return loadConfig(env);
      } catch (error) {
        return (error as ConfigError).message;
      }
    };
    const key = aFile('key', PRODUCTION.TOKEN_KEY);
    expect(problemOf({ TOKEN_KEY: PRODUCTION.TOKEN_KEY, TOKEN_KEY_FILE: key })).toBe(
      'TOKEN_KEY_FILE must not be set together with TOKEN_KEY.',
    );
    expect(problemOf({ TOKEN_KEY_FILE: join(folder, 'none') })).toBe(
      'TOKEN_KEY_FILE must be the path of a file that can be read (ENOENT).',
    );
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    for (const path of [folder, pipe, '/dev/zero', aFile('large', 'k'.repeat(2 * 1024 * 1024))]) {
      expect(problemOf({ TOKEN_KEY_FILE: path })).toBe(
        'TOKEN_KEY_FILE must be the path of a file of at most 1 MiB, and no folder, pipe or device.',
      );
    }
    const empty = aFile('empty', '\n');
    expect(problemOf({ METRICS_TOKEN_FILE: empty })).toBe(
      'METRICS_TOKEN_FILE must be the path of a file with the value, and this file is empty.',
    );
    expect(problemOf({ TOKEN_KEY_FILE: aFile('short', 'hunter2') })).toMatch(
      /^TOKEN_KEY_FILE must have at least 32 bytes in base64url, not 5; /,
    );
  });

  it('is not a file for a setting that is no secret', () => {
    expect(loadConfig({ HOST_FILE: join(folder, 'none') }).host).toBe('127.0.0.1');
  });
});

describe('production', () => {
  it('checks migrations, listens on every address and never loads demo data', () => {
    expect(loadConfig({ ...PRODUCTION, DEMO: '1' })).toMatchObject({
      production: true,
      migrate: 'check',
      host: '0.0.0.0',
      demo: false,
    });
  });

  it.each(['DATABASE_URL_AU1', 'DATABASE_URL_US1', 'TOKEN_KEY', 'BASE_URL'])('requires %s', (name) => {
    const env: Record<string, string> = { ...PRODUCTION, [name]: '' };

    expect(() => loadConfig(env)).toThrow(`${name} is required in production.`);
  });

  it('rejects an http: address that is not loopback (HDR-1)', () => {
    expect(() => loadConfig({ ...PRODUCTION, BASE_URL: 'http://api.example.com' })).toThrow(
      'BASE_URL must be https: in production, not "http://api.example.com".',
    );
    expect(loadConfig({ ...PRODUCTION, BASE_URL: 'http://127.0.0.1:4000' }).baseUrl).toBe('http://127.0.0.1:4000');
  });
});
