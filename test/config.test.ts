import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { describe, expect, it } from 'vitest';
import { ConfigError, loadConfig } from '../src/config.ts';

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

describe('the settings', () => {
  it('may all be absent: a development service with an embedded database and demo data (LIM-1, LIM-2, LIM-3, LIM-22, LIM-23)', () => {
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

  it('count as absent when empty', () => {
    expect(loadConfig({ PORT: '', BASE_URL: '' })).toMatchObject({ port: 4000, baseUrl: 'http://localhost:4000' });
  });

  it('start nothing embedded and load no demo data once both databases are named', () => {
    expect(loadConfig(DATABASES)).toMatchObject({ databaseUrls: { au1: DATABASES.DATABASE_URL_AU1 }, demo: false });
  });

  it('give each core a worker with max', () => {
    expect(loadConfig({ WORKERS: '3' }).workers).toBe(3);
    expect(loadConfig({ WORKERS: 'max' }).workers).toBe(availableParallelism());
  });

  it('run workers under a supervisor in production, and wherever there are several', () => {
    expect(loadConfig({})).toMatchObject({ supervise: false, standby: false });
    expect(loadConfig({ WORKERS: '2' })).toMatchObject({ supervise: true, standby: false });
    expect(loadConfig({ SUPERVISE: '1' }).supervise).toBe(true);
    expect(loadConfig(PRODUCTION)).toMatchObject({ supervise: true, standby: true, workers: 1 });
    expect(loadConfig({ ...PRODUCTION, SUPERVISE: '0' }).supervise).toBe(false);
  });

  it('switch a rate limit off with 0 (LIM-1)', () => {
    expect(loadConfig({ RATE_LIMIT_API: '0' }).rateLimits.api).toBeNull();
  });

  const wrong: [string, Record<string, string>, string][] = [
    ['a port that is none', { PORT: 'http' }, 'PORT'],
    ['port 0', { PORT: '0' }, 'PORT'],
    ['a port beyond 65535', { PORT: '70000' }, 'PORT'],
    ['one database without the other', { DATABASE_URL_AU1: DATABASES.DATABASE_URL_AU1 }, 'DATABASE_URL_US1'],
    ['a direct address alone', { DATABASE_URL_AU1_DIRECT: DATABASES.DATABASE_URL_AU1 }, 'DATABASE_URL_AU1_DIRECT'],
    ['a database of another kind', { ...DATABASES, DATABASE_URL_US1: 'mysql://x/y' }, 'DATABASE_URL_US1'],
    ['a base address with a path', { BASE_URL: 'https://example.com/api' }, 'BASE_URL'],
    ['a rate limit of another form', { RATE_LIMIT_TOKEN: '120' }, 'RATE_LIMIT_TOKEN'],
    ['a mode of migration that does not exist', { MIGRATE: 'yes' }, 'MIGRATE'],
    ['several workers without a supervisor', { WORKERS: '2', SUPERVISE: '0' }, 'SUPERVISE'],
    ['a heap of no size', { WORKER_HEAP_MIB: '0' }, 'WORKER_HEAP_MIB'],
    ['a short token key', { TOKEN_KEY: 'c2hvcnQ' }, 'TOKEN_KEY'],
    ['a certificate without its key', { TLS_CERT: 'cert.pem' }, 'TLS_CERT and TLS_KEY'],
    ['a proxy that is whoever comes', { TRUST_PROXY: 'true' }, 'TRUST_PROXY'],
    ['no workers', { WORKERS: '0' }, 'WORKERS'],
    ['workers that are no number', { WORKERS: 'all' }, 'WORKERS'],
    ['a log level that does not exist', { LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
  ];

  it.each(wrong)('refuse %s in one line that names the setting', (_, env, name) => {
    expect(() => loadConfig(env)).toThrow(ConfigError);
    expect(() => loadConfig(env)).toThrow(new RegExp(`^${name} [^\n]+\\.$`));
  });
});

describe('production', () => {
  it('checks migrations, listens everywhere and never loads demo data', () => {
    expect(loadConfig({ ...PRODUCTION, DEMO: '1' })).toMatchObject({
      production: true,
      migrate: 'check',
      host: '0.0.0.0',
      demo: false,
    });
  });

  it.each(['DATABASE_URL_AU1', 'TOKEN_KEY', 'BASE_URL'])('needs %s', (name) => {
    const env: Record<string, string> = { ...PRODUCTION, [name]: '' };
    if (name === 'DATABASE_URL_AU1') env.DATABASE_URL_US1 = '';
    expect(() => loadConfig(env)).toThrow(`${name} is required in production.`);
  });

  it('refuses an http: address, but for loopback (HDR-1)', () => {
    expect(() => loadConfig({ ...PRODUCTION, BASE_URL: 'http://api.example.com' })).toThrow(
      'BASE_URL must be https: in production.',
    );
    expect(loadConfig({ ...PRODUCTION, BASE_URL: 'http://127.0.0.1:4000' }).baseUrl).toBe('http://127.0.0.1:4000');
  });
});
