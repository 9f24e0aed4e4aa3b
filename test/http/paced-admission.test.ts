import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

/** Sends so many health checks of one address at once, then another request, and returns how many were answered before that. */
async function countAnsweredBefore(count: number, other: () => Promise<unknown>): Promise<number> {
  let answered = 0;
  const checks = Array.from({ length: count }, async () => {
    await service.request({ url: '/health/live', remoteAddress: '192.0.2.1' });
    answered++;
  });
  await other();
  const before = answered;
  await Promise.all(checks);
  return before;
}

describe('requests without a verified token', () => {
  it('of one address do not delay those of another address', async () => {
    const other = () => service.request({ url: '/health/live', remoteAddress: '192.0.2.2' });
    expect(await countAnsweredBefore(400, other)).toBeLessThan(100);
  });

  it('do not delay requests with a token that was verified before', async () => {
    const token = await service.as('A');
    expect((await service.get('/me', token)).statusCode).toBe(200);
    // Several queries of the database take several turns of the event loop.
    expect(await countAnsweredBefore(400, () => service.get('/me', token))).toBeLessThan(200);
  });

  it('are answered with 429 where more than 512 of one address wait', async () => {
    const call = (remoteAddress: string) => service.request({ url: '/health/live', remoteAddress });
    const [answers, other] = await Promise.all([
      Promise.all(Array.from({ length: 600 }, () => call('192.0.2.3'))),
      call('192.0.2.4'),
    ]);
    const rejected = answers.filter(({ statusCode }) => statusCode === 429);
    expect(answers.filter(({ statusCode }) => statusCode === 200).length).toBeGreaterThanOrEqual(512);
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected[0]!.headers['retry-after']).toBe('1');
    expect(rejected[0]!.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(other.statusCode).toBe(200);
  });
});
