import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { fuzz } from '../proof/fuzz/fuzz.ts';
import { worldOf } from '../proof/fuzz/world.ts';
import { type Service, startService, TOKEN_KEY } from '../support/harness.ts';

/** As many as take some seconds; `npm run proof -- fuzz` sends a hundred thousand. */
const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 1_500);

let service: Service;
let origin: string;

beforeAll(async () => {
  service = await startService();
  origin = await service.app.listen({ host: '127.0.0.1', port: 0 });
});

afterAll(() => service.stop());

describe('generated requests, half of them near-valid', () => {
  it('are all answered as documented, without a word of the inside', async () => {
    const { databases, clock } = service;
    const world = await worldOf({ origin, databases, clock, demo: inject('demo'), tokenKey: TOKEN_KEY });
    const seed = Number(process.env.FUZZ_SEED ?? 1);
    const { wrong, ...figures } = await fuzz(origin, world, { requests: REQUESTS, seed, connections: 8 });
    console.info(`fuzz: seed ${seed}, ${JSON.stringify(figures)}`);
    expect(wrong).toEqual([]);
    expect(figures.sent).toBe(REQUESTS);
  }, 400_000);
});
