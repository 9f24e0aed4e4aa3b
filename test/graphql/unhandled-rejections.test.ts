import { setImmediate as turn } from 'node:timers/promises';
import { Field, FieldResolver, Int, ObjectType, Query, Resolver, Root } from 'type-graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { resolvers } from '../../resolvers/registry.ts';
import { Scoped } from '../../schema/rest.ts';
import { createServiceDefinition } from '../../src/app.ts';
import { logUnhandledRejections } from '../../src/http/metrics/log-lines.ts';
import { type Service, startService } from '../support/harness.ts';

/** The second item fails at once, because `sequence` is not nullable. The first one fails later. */
const ITEMS = [{ sequence: 1 }, { sequence: null }] as unknown as FragileItem[];

@ObjectType({ simpleResolvers: true })
class FragileItem {
  @Field(() => Int)
  sequence!: number;

  late?: string;
}

@Resolver(() => FragileItem)
class FragileResolver {
  @Query(() => [FragileItem])
  @Scoped('read:builders')
  fragileItems(): FragileItem[] {
    return ITEMS;
  }

  @FieldResolver(() => String)
  async late(@Root() { sequence }: FragileItem): Promise<string> {
    for (let count = 0; count < 20; count++) await turn();
    throw new Error(`late failure of item ${sequence}`);
  }
}

const lines: { msg: string; err?: { message: string } }[] = [];
const listeners = process.listeners('unhandledRejection');
let service: Service;

beforeAll(async () => {
  const registered = resolvers as unknown as (new () => object)[];
  registered.push(FragileResolver);
  const definition = await createServiceDefinition();
  // Test files of one worker share the registry.
  registered.pop();
  vi.spyOn(process.stdout, 'write').mockImplementation((data) => {
    for (const line of String(data).split('\n')) if (line.startsWith('{')) lines.push(JSON.parse(line));
    return true;
  });
  service = await startService({ LOG_LEVEL: 'error' }, { definition });
  // The listeners of Vitest would fail the run.
  process.removeAllListeners('unhandledRejection');
  logUnhandledRejections(service.app);
});

afterAll(async () => {
  process.removeAllListeners('unhandledRejection');
  for (const listener of listeners) process.on('unhandledRejection', listener);
  vi.restoreAllMocks();
  await service.stop();
});

describe('a list of which one item fails at once and another one later', () => {
  it('has a complete error in the response, and the later one in the log of a service that still serves', async () => {
    const token = await service.tokenOf('A');
    const { data, errors } = await service.graphql(token, '{ fragileItems { sequence late } }');
    expect(data ?? null).toBeNull();
    expect(errors).toMatchObject([{ path: ['fragileItems', 1, 'sequence'], extensions: { code: 'INTERNAL' } }]);
    await vi.waitUntil(() => lines.some(({ msg }) => msg === 'unhandled rejection'));
    expect(lines.find(({ msg }) => msg === 'unhandled rejection')!.err!.message).toBe('late failure of item 1');
    expect((await service.get('/builders', token)).statusCode).toBe(200);
  });
});
