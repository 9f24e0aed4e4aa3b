import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { InvalidValue, parseReplicas } from '../../src/config/parsers.ts';
import { Database } from '../../src/database/database.ts';
import type { StatementRunner } from '../../src/database/pool/statement-runner.ts';
import { MAX_LAG_MS, ReplicaSet } from '../../src/database/replicas/replica-set.ts';
import { createDatabase } from '../setup/database.ts';
import { freePort } from '../support/ports.ts';

/* Standbys themselves: replicas.proof.test.ts. */

let createdDatabase: Awaited<ReturnType<typeof createDatabase>>;

beforeAll(async () => {
  createdDatabase = await createDatabase();
});

afterAll(() => createdDatabase.drop());

describe('the addresses of standbys', () => {
  it('become a URL each', () => {
    expect(parseReplicas('postgres://u:p@a,b:5433/d')).toEqual(['postgres://u:p@a/d', 'postgres://u:p@b:5433/d']);
  });

  it('may not require that the server accepts writes', () => {
    expect(() => parseReplicas('postgres://u:p@a/d?target_session_attrs=read-write')).toThrow(InvalidValue);
  });
});

describe('a read that a standby may answer', () => {
  const ONE = { name: 'replicas.one', text: `select 'a'::text where $1::int > 0` };

  it.each([
    ['is no standby', () => createdDatabase.url],
    ['cannot be reached', async () => `postgresql://u:p@127.0.0.1:${await freePort()}/none`],
  ])('is answered by the primary when the server %s', async (_, urlOf) => {
    const database = new Database('au1', createdDatabase.url, undefined, [await urlOf()]);
    try {
      const limited = database.withLimits(database.limits!).onReplica();
      expect(await limited.runner.run(ONE, [1])).toEqual([['a']]);
      expect(await limited.slowRunner.run(ONE, [1])).toEqual([['a']]);
      expect(database.replicas!.counts).toEqual(new Map([['primary', { ok: 2, failed: 0 }]]));
    } finally {
      await database.close();
    }
  });

  it('goes to the primary without any standby', async () => {
    const database = new Database('au1', createdDatabase.url);
    expect(database.onReplica()).toBe(database);
    await database.close();
  });
});

describe('a standby', () => {
  const OLD = '00000001';
  const NEW = '00000002';

  /** Returns whether the standby is used after each measurement of the primary and of the standby. */
  async function measure(...steps: [primary: [number, string], standby: [number, string, string?]][]) {
    let step = steps[0]!;
    const primary = { run: async () => [[...step[0].map(String), 'own']] } as unknown as StatementRunner;
    const set = new ReplicaSet([createdDatabase.url], { reads: 1, slowReads: 1 }, primary);
    const [replica] = set.replicas;
    replica!.readPosition = async () => {
      const [position, timeline, identity = 'own'] = step[1];
      return { position, timeline, identity };
    };
    const used: boolean[] = [];
    for (step of steps) {
      await set.measure();
      used.push(replica!.lagMs < MAX_LAG_MS);
    }
    await set.close();
    return used;
  }

  it('of another database is not used', async () => {
    const own: [[number, string], [number, string]] = [
      [10, OLD],
      [10, OLD],
    ];
    expect(
      await measure(
        own,
        [
          [10, OLD],
          [10, OLD, 'other'],
        ],
        own,
      ),
    ).toEqual([true, false, true]);
  });

  it('that was ahead of its primary is used again once it is on the timeline of the primary', async () => {
    const used = await measure(
      [
        [10, OLD],
        [10, OLD],
      ],
      [
        [8, NEW],
        [10, OLD],
      ],
      [
        [12, NEW],
        [10, OLD],
      ],
      [
        [12, NEW],
        [13, OLD],
      ],
      [
        [14, NEW],
        [14, OLD],
      ],
      [
        [15, NEW],
        [15, NEW],
      ],
    );
    expect(used).toEqual([true, false, false, false, false, true]);
  });

  it('counts after a promotion once it has passed the first known position of the new timeline', async () => {
    expect(
      await measure(
        [
          [10, OLD],
          [10, OLD],
        ],
        [
          [12, NEW],
          [11, OLD],
        ],
        [
          [13, NEW],
          [12, OLD],
        ],
      ),
    ).toEqual([true, false, true]);
  });
});
