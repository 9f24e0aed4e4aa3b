import { describe, expect, it } from 'vitest';
import { describeSettings } from '../../src/config/settings.ts';

const SECRETS = {
  DATABASE_URL_AU1: 'postgresql://someone:hidden-1@db.example.com:5432/au1?password=hidden-2',
  DATABASE_URL_US1: 'postgresql://someone:hidden-3@db.example.com/us1',
  DATABASE_URL_AU1_DIRECT_FILE: '/hidden-4',
  TOKEN_KEY: `hidden-5${'0'.repeat(60)}`,
  METRICS_TOKEN: 'hidden-6-of-the-metrics',
  SMTP_URL: 'smtps://someone:hidden-9@mail.example.com',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'https://traces.example.com/path?key=hidden-10',
  S3_BUCKET: 'photos',
  S3_ACCESS_KEY_ID: 'hidden-7',
  S3_SECRET_ACCESS_KEY: 'hidden-8',
  TLS_KEY: '-----BEGIN PRIVATE KEY-----\nhidden-11\n-----END PRIVATE KEY-----',
  PORT: '',
  PATH: '/bin',
};

describe('the description of the settings', () => {
  const described = describeSettings(SECRETS);

  it('contains no secret', () => {
    expect(JSON.stringify(described)).not.toMatch(/hidden|someone/);
  });

  it('names those that are given, with the servers of addresses', () => {
    expect(described).toEqual({
      DATABASE_URL_AU1: 'postgresql://…@db.example.com:5432/au1?…',
      DATABASE_URL_US1: 'postgresql://…@db.example.com/us1',
      DATABASE_URL_AU1_DIRECT: 'set',
      TOKEN_KEY: 'set',
      METRICS_TOKEN: 'set',
      SMTP_URL: 'smtps://…@mail.example.com',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'https://traces.example.com/path?…',
      S3_BUCKET: 'photos',
      S3_ACCESS_KEY_ID: 'set',
      S3_SECRET_ACCESS_KEY: 'set',
      TLS_KEY: 'set',
    });
  });
});
