import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { BACKLOGS } from '../../src/domain/backlogs.ts';
import { createBuilderClient } from '../support/builder-client.ts';
import { useService } from '../support/harness.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

/** Written by Prometheus itself. */
const PROMETHEUS_METRICS = ['up'];
/** Functions, aggregations and keywords of PromQL that the files use. */
const PROMQL = /^(sum|max|count|rate|increase|topk|histogram_quantile|time|by)$/;

/** Returns the names of the metrics in an expression of PromQL. */
function metricsIn(expression: string): string[] {
  const withoutLabels = expression
    .replace(/"[^"]*"/g, '')
    .replace(/\{[^}]*\}/g, '')
    .replace(/\bby \([^)]*\)/g, '')
    .replace(/\[\w+\]/g, '');
  return [...withoutLabels.matchAll(/[a-zA-Z_:][\w:]*/g)].map(([name]) => name).filter((name) => !PROMQL.test(name));
}

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; runbook: string };
}

const rules: Rule[] = parse(read('deploy/prometheus/alerts.yaml')).groups[0].rules;
const panels: { title: string; targets?: { expr: string }[] }[] = JSON.parse(
  read('deploy/grafana/dashboard.json'),
).panels;
const expressions = [
  ...rules.map(({ alert, expr }) => [`alert ${alert}`, expr] as const),
  ...panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => [`panel ${title}`, expr] as const)),
];

const service = useService({ RATE_LIMIT_API: '60/10' });
let text: string;
/** Names of the samples, `_bucket`, `_sum` and `_count` included. */
let samples: Set<string>;
let types: Set<string>;

const readValue = (series: string) =>
  Number(
    text
      .split('\n')
      .find((line) => line.startsWith(`${series} `))
      ?.split(' ')
      .at(-1),
  );

beforeAll(async () => {
  const token = await service.tokenOf('A');
  const builderId = service.findDemoClient('A').builderIds[0]!;
  await service.get(`/builders/${builderId}/projects`, token);
  await service.get('/builders/buil_none/projects', token);
  await service.graphql(token, 'query Dashboard { builders { data { id } } }');
  await service.graphql(token, 'query Dashboard { builders { data { id } } nothing }');
  await service.graphql(token, '{ builders { data { id } } }');
  for (let sent = 0; sent < 70; sent++) await service.get('/me', await service.tokenOf('C'));
  ({ body: text } = await service.request({ url: '/metrics', remoteAddress: '127.0.0.1' }));
  samples = new Set([...text.matchAll(/^(\w+)[ {]/gm)].map(([, name]) => name!));
  types = new Set([...text.matchAll(/^# TYPE (\w+) /gm)].map(([, name]) => name!));
});

describe('/metrics', () => {
  it('counts requests by integrator and outcome', () => {
    const integrators = [
      ...text.matchAll(/^integrator_requests_total\{integrator="(intg_\w+)",outcome="ok"\} (\d+)/gm),
    ];
    expect(integrators.map(([, , count]) => Number(count)).sort((a, b) => a - b)).toEqual([3, 60]);
    expect(text).toMatch(/^integrator_requests_total\{integrator="\w+",outcome="client_error"\} [1-9]/m);
    expect(text).toMatch(/^integrator_request_seconds_total\{integrator="\w+"\} \d/m);
  });

  it('counts requests by route and status in cumulative buckets of their duration', () => {
    const labels = 'method="GET",route="/me",status_code="200"';
    const buckets = [
      ...text.matchAll(new RegExp(`^http_request_duration_seconds_bucket\\{le="([^"]+)",${labels}\\} (\\d+)$`, 'gm')),
    ];
    expect(buckets.map(([, bound]) => bound)).toEqual([
      '0.005',
      '0.01',
      '0.025',
      '0.05',
      '0.1',
      '0.25',
      '0.5',
      '1',
      '2.5',
      '5',
      '10',
      '+Inf',
    ]);
    const counts = buckets.map(([, , count]) => Number(count));
    expect(counts).toEqual(counts.toSorted((one, other) => one - other));
    expect(counts.at(-1)).toBe(60);
    expect(readValue(`http_request_duration_seconds_count{${labels}}`)).toBe(60);
    expect(readValue(`http_request_duration_seconds_sum{${labels}}`)).toBeGreaterThan(0);
  });

  it('counts GraphQL requests by operation and outcome', () => {
    expect(readValue('graphql_operations_total{operation="Dashboard",outcome="ok"}')).toBe(1);
    // The name of an invalid document is not known.
    expect(readValue('graphql_operations_total{operation="anonymous",outcome="client_error"}')).toBe(1);
    expect(readValue('graphql_operations_total{operation="anonymous",outcome="ok"}')).toBe(1);
    expect(readValue('graphql_operation_seconds_total{operation="Dashboard"}')).toBeGreaterThan(0);
  });

  it('counts rejections by rate limit', () => {
    expect(readValue('rate_limit_rejections_total{budget="api"}')).toBe(10);
    expect(readValue('rate_limit_rejections_total{budget="sync"}')).toBe(0);
  });

  it('has the state of every limit that callers share', () => {
    expect(readValue('share_rejections_total{limit="requests",reason="share"}')).toBe(0);
    expect(readValue('share_used_ratio{limit="writes"}')).toBe(0);
    expect(readValue('share_queued{limit="large images"}')).toBe(0);
  });

  it('measures statements, and the connections that they use', () => {
    expect(text).toMatch(/^database_statements_total\{region="au1",statement="limits.lease",outcome="ok"\} [1-9]/m);
    expect(readValue('database_statement_seconds_total{region="au1",statement="limits.lease"}')).toBeGreaterThan(0);
    expect(readValue('database_pipelined_connections{region="au1",pool="reads",state="open"}')).toBeGreaterThan(0);
    expect(readValue('database_pipelined_statements{region="au1",pool="reads"}')).toBe(0);
    expect(readValue('database_pool_waiting{region="au1",pool="writes"}')).toBe(0);
  });

  it('computes the age of the oldest work by the clock of the database', async () => {
    const client = new pg.Client({ connectionString: service.databases.au1.url });
    await client.connect();
    const anHourAgo = `now() - interval '1 hour'`;
    // They take the place of the tables in this session.
    await client.query(`create temp table upload as select ${anHourAgo} as created_at, null::timestamptz as consumed_at;
      create temp table event_pending as select ${anHourAgo} as occurred_at;
      create temp table webhook_delivery as select ${anHourAgo} as created_at, 'PENDING' as status;
      create temp table photo_rendition as select ${anHourAgo} as created_at, 'PENDING' as status;
      create temp table snapshot as select ${anHourAgo} as created_at, 'PENDING' as status`);
    const { list_counters: _, ...backlogs } = BACKLOGS;
    for (const text of Object.values(backlogs)) {
      const { rows } = await client.query({ text, rowMode: 'array' });
      expect(Number(rows[0]![0])).toBe(1);
      expect(Number(rows[0]![1])).toBeCloseTo(3_600, -2);
    }
    await client.end();
  });

  it('has depth and age of the work that waits', async () => {
    expect(readValue('backlog_items{region="au1",backlog="unused_uploads"}')).toBe(0);
    expect(readValue('backlog_oldest_seconds{region="us1",backlog="unused_uploads"}')).toBe(0);
  });

  it('measures image checks and operations of the store', async () => {
    // The counts are those of the process, in which other tests may have run.
    const read = async () => {
      const { body } = await service.request({ url: '/metrics', remoteAddress: '127.0.0.1' });
      const readMetric = (name: string) =>
        Number(
          body
            .split('\n')
            .find((line) => line.startsWith(`${name} `))
            ?.split(' ')[1] ?? 0,
        );
      return [
        readMetric('image_decodes_total{size="small",outcome="ok"}'),
        readMetric('storage_operations_total{region="au1",operation="copy",outcome="ok"}'),
      ];
    };
    const [decodes, copies] = (await read()) as [number, number];
    await (await createBuilderClient(service, 'B')).createPhoto();
    expect(await read()).toEqual([decodes + 1, copies + 1]);
  });
});

describe('the dashboard and the alert rules', () => {
  it.each(expressions)('%s names existing metrics', (_name, expression) => {
    const names = metricsIn(expression);
    expect(names).not.toEqual([]);
    const known = [...samples, ...types, ...PROMETHEUS_METRICS];
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
  });

  it('show every metric of the service', () => {
    const named = new Set(expressions.flatMap(([, expression]) => metricsIn(expression)));
    const own = [...types].filter((name) => !/^(nodejs|process)_/.test(name));
    const isShown = (name: string) => named.has(name) || named.has(`${name}_count`) || named.has(`${name}_bucket`);
    expect(own.filter((name) => !isShown(name))).toEqual([]);
  });

  it('have a line about what to do in docs/monitoring.md', () => {
    const page = read('docs/monitoring.md');
    for (const { alert, annotations } of rules) {
      expect(annotations.runbook).toBe(`docs/monitoring.md#${alert.toLowerCase()}`);
      expect(page).toContain(`<a id="${alert.toLowerCase()}"></a>\`${alert}\``);
    }
  });
});
