import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LIMITS, MAX_BODY_BYTES } from '../../src/domain/photo-reports/limits.ts';
import { type BuilderClient, createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';
import { page, request } from './documents.ts';

const PATH = '/photo-reports/sync';

const formatNumber = (value: number) => value.toLocaleString('en');

/** Returns the limits as a Markdown table. */
function toLimitsTable(): string {
  const rows = Object.values(LIMITS).map(({ of, min, max, unit }) => {
    const range = min === 0 && unit ? `at most ${formatNumber(max)}` : `${formatNumber(min)} to ${formatNumber(max)}`;
    return `| ${of} | ${[range, unit].filter(Boolean).join(' ')} |`;
  });
  const body = `| Body of the request | at most ${MAX_BODY_BYTES / 1024 / 1024} MiB |`;
  return ['| What | Limit |', '|---|---|', ...rows, body].join('\n');
}

describe('docs/photo-reports.md', () => {
  it('contains the limits of the validation', () => {
    const page = readFileSync('docs/photo-reports.md', 'utf8');
    const shown = /<!-- photo-report-limits:begin -->\n([\s\S]*?)\n<!-- photo-report-limits:end -->/.exec(page);
    expect(shown?.[1]).toBe(toLimitsTable());
  });
});

describe('RATE_LIMIT_SYNC', () => {
  let service: Service;
  let client: BuilderClient;

  beforeAll(async () => {
    service = await startService({ RATE_LIMIT_SYNC: '3/10', RATE_LIMIT_API: '1000/10' });
    client = await createBuilderClient(service, 'A');
  });

  afterAll(() => service.stop());

  it('is a separate budget: 429 with Retry-After in REST and GraphQL, without effect on other operations', async () => {
    const { sourceApp, sourceExternalId, ...rest } = request({ page: page() });
    const body = { sourceApp, sourceExternalId, ...rest };
    const answers = [
      await client.send('POST', PATH, body),
      await client.send('PATCH', PATH, body),
      await client.send('DELETE', PATH, { sourceApp, sourceExternalId }),
      await client.send('POST', PATH, { not: 'looked at' }),
    ];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers['x-ratelimit-remaining'])).toEqual(
      ['2', '1', '0', '0'].map(Number).map(String),
    );
    expect(answers[3]!.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(answers[3]!.headers['retry-after']).toBe('10');
    expect((await service.get('/builders', client.token)).statusCode).toBe(200);

    const mutation = `mutation ($b: BuilderId!) { archivePhotoReport(builderId: $b, sourceApp: "a", sourceExternalId: "b") { status } }`;
    const refused = await service.graphql(client.token, mutation, { b: client.builderId });
    expect(refused.errors![0]!.extensions).toMatchObject({ code: 'RATE_LIMITED', http: { status: 429 } });

    service.clock.advance(10_000);
    const several = `mutation ($b: BuilderId!) { ${[1, 2, 3, 4]
      .map((at) => `a${at}: archivePhotoReport(builderId: $b, sourceApp: "a", sourceExternalId: "b") { status }`)
      .join(' ')} }`;
    const { errors } = await service.graphql(client.token, several, { b: client.builderId });
    // Budgets are charged before anything is executed.
    expect(errors!.map(({ extensions }) => extensions.code)).toEqual(['RATE_LIMITED']);
  });
});
