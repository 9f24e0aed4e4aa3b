import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { seedBuilders } from '../cli/cli-harness.ts';
import type { BuilderClient } from '../support/builder-client.ts';
import { createConnectedClient, createDeployment, type Deployment } from './deployments.ts';
import { blocks, createNestedPages, createRequestText, item, page, request } from './documents.ts';

const PATH = '/photo-reports/sync';
const MEBIBYTE = 1024 * 1024;

let sourceDeployment: Deployment;
let targetDeployment: Deployment;
let owner: BuilderClient;
let large: string;

beforeAll(async () => {
  [sourceDeployment, targetDeployment] = [await createDeployment(), await createDeployment()];
  const { operator } = sourceDeployment;
  await seedBuilders(operator);
  const { integratorId } = await operator.json(['integrator', 'create', '--name', 'Site Notes']);
  owner = await createConnectedClient(sourceDeployment, integratorId);
  large = await mkdtemp(join(tmpdir(), 'builder-api-reports-'));
});

afterAll(async () => {
  for (const { app, operator } of [sourceDeployment, targetDeployment]) {
    await app.close();
    await operator.close();
  }
  await rm(large, { recursive: true });
});

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const sync = (payload: string) =>
  sourceDeployment.app.inject({
    method: 'POST',
    url: `/builders/buil_a${PATH}`,
    headers: { authorization: `Bearer ${owner.token}`, 'content-type': 'application/json' },
    payload,
  });

describe('the largest reports', () => {
  const syncMetadata = (metadata: string) =>
    sync(JSON.stringify(request({ page: page([], { contentMetadata: { a: 'HERE' } }) })).replace('"HERE"', metadata));
  const DIGITS = 32 * MEBIBYTE;

  it('can be exported and imported: 31 MiB, and the maximum number of digits', async () => {
    for (const metadata of [`"${'a'.repeat(31 * MEBIBYTE)}"`, `[${'1e-300,'.repeat(Math.floor(DIGITS / 300))}0]`]) {
      expect((await syncMetadata(metadata)).statusCode).toBe(200);
    }
    await sourceDeployment.operator.json(['export', large]);
    const { problems } = await targetDeployment.operator.json(['import', large]);
    expect(problems).toEqual([]);
  });

  it('are 400 if their numbers exceed the maximum number of digits (PRP-31)', async () => {
    const { statusCode, body } = await syncMetadata(`[${'1e-300,'.repeat(DIGITS / 300 + 1)}0]`);
    expect(statusCode).toBe(400);
    const { errors } = JSON.parse(body);
    expect(errors).toEqual([
      {
        fieldName: expect.stringMatching(/^page\.contentMetadata\.a\[\d+\]$/),
        message: expect.stringContaining('digits'),
      },
    ]);
    expect((await syncMetadata(`[${'1234567,'.repeat(4_000_000)}0]`)).statusCode).toBe(200);
  });

  it('may have 2.7 million runs of text in 32 MiB', async () => {
    const list = (at: number) => {
      const items = Array.from({ length: 100 }, (_, index) =>
        item(`${index}`, { richText: Array(200).fill({ text: '' }) }),
      );
      return blocks.list(`${at}`, items);
    };
    const report = JSON.stringify(request({ page: page(Array.from({ length: 137 }, (_, at) => list(at))) }));
    expect(report.length).toBeLessThan(32 * MEBIBYTE);
    expect(report.split('{"text":""}').length - 1).toBe(2_740_000);
    expect((await sync(report)).json()).toMatchObject({ idempotent: false });
  });
});

describe('a hostile body', () => {
  it('is rejected without a memory leak', async () => {
    const bodies = [
      '['.repeat(20 * MEBIBYTE),
      createRequestText(createNestedPages(10_000)),
      createRequestText(`{"blocks":[${'5,'.repeat(3_000_000)}5]}`),
      createRequestText(`{"schemaVersion":1,"title":"${'a'.repeat(20 * MEBIBYTE)}","blocks":[]}`),
    ];
    const round = async () => {
      for (const body of bodies) expect((await sync(body)).statusCode).toBe(400);
    };
    const held = () => {
      collectGarbage();
      const { heapUsed, external } = process.memoryUsage();
      return (heapUsed + external) / MEBIBYTE;
    };
    await round();
    const before = held();
    for (let times = 0; times < 4; times++) await round();
    // What the end of a request releases a moment later is no leak.
    await expect.poll(() => held() - before, { timeout: 10_000, interval: 500 }).toBeLessThan(30);
  });
});
