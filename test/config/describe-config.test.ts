import { describe, expect, it } from 'vitest';
import { describeConfig } from '../../src/config/describe-config.ts';
import { loadConfig } from '../../src/config.ts';

const SECRETS = {
  DATABASE_URL_AU1: 'postgresql://someone:hidden-1@db.example.com:5432/au1?password=hidden-2',
  DATABASE_URL_US1: 'postgresql://someone:hidden-3@db.example.com/us1',
  DATABASE_URL_AU1_DIRECT: 'postgresql://someone:hidden-4@direct.example.com/au1',
  TOKEN_KEY: `hidden-5${'0'.repeat(60)}`,
  METRICS_TOKEN: 'hidden-6-of-the-metrics',
  SMTP_URL: 'smtps://someone:hidden-9@mail.example.com',
  MAIL_FROM: 'no-reply@example.com',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://traces.example.com/path?key=hidden-10',
  STORAGE: 's3',
  S3_BUCKET: 'photos',
  S3_ACCESS_KEY_ID: 'hidden-7',
  S3_SECRET_ACCESS_KEY: 'hidden-8',
};

describe('the description of the configuration', () => {
  const described = describeConfig(loadConfig(SECRETS));

  it('contains no secret', () => {
    expect(JSON.stringify(described)).not.toMatch(/hidden|someone/);
  });

  it('names databases, bucket and limits', () => {
    expect(described).toMatchObject({
      databases: { au1: 'db.example.com:5432/au1', us1: 'db.example.com/us1' },
      directDatabases: { au1: 'direct.example.com/au1', us1: 'db.example.com/us1' },
      ...{ tokenKeys: 1, metricsToken: 'set', s3: { bucket: 'photos' }, workers: 1, production: false },
      rateLimits: { api: { requests: 1000, seconds: 10 } },
    });
  });
});
