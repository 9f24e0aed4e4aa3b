import { beforeAll, describe, expect, inject, it } from 'vitest';
import { fuzz } from '../proof/fuzz/fuzz.ts';
import { createFuzzFixture } from '../proof/fuzz/fuzz-fixture.ts';
import { TOKEN_KEY, useService } from '../support/harness.ts';

/** Number of requests, which take some seconds. `npm run proof -- fuzz` sends 100,000. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 1_500);

const service = useService();
let origin: string;

beforeAll(async () => {
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
});

describe('generated requests, half of them near-valid', () => {
  it('are all answered as documented, without a word of the inside', async () => {
    const { databases, clock } = service;
    const fixture = await createFuzzFixture({ origin, databases, clock, demo: inject('demo'), tokenKey: TOKEN_KEY });
    const seed = Number(process.env.FUZZ_SEED ?? 1);
    const { problems, ...figures } = await fuzz(origin, fixture, { requests: REQUESTS, seed, connections: 8 });
    console.info(`fuzz: seed ${seed}, ${JSON.stringify(figures)}`);
    expect(problems).toEqual([]);
    expect(figures.sent).toBe(REQUESTS);
  }, 400_000);
});
