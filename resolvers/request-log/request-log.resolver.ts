import { Args, Ctx, Extensions, Query, Resolver } from 'type-graphql';
import { LoggedRequest, UsageDay } from '../../entities/usage.entity.ts';
import { createListType } from '../../schema/list.ts';
import { toDateRange, UtcRangeArgs } from '../../schema/range.ts';
import { Rest } from '../../schema/rest.ts';
import { DEFAULT_LIMIT } from '../../schema/scalars.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { countDropped, readRequestLog } from '../../src/domain/request-log/read-request-log.ts';
import { readUsageByOperation, toUsageRange } from '../../src/domain/request-log/read-usage.ts';
import { SLOW_READ_COST } from '../../src/limits/response-meter.ts';
import { RequestLogArgs } from './request-log.input.ts';
import { RequestLogPage } from './request-log.type.ts';

const UsageList = createListType(UsageDay, 'integrator');
const shared = { scope: null, clientCredentials: true, tag: 'Request log', extension: true } as const;

@Resolver(() => LoggedRequest)
export class RequestLogResolver {
  @Query(() => RequestLogPage, {
    description: "The requests of the integrator's clients that failed in the last seven days, the newest first.",
  })
  @Extensions({ cost: 2 * SLOW_READ_COST })
  @Rest('GET /request-log', shared)
  async requestLog(
    @Args() { cursor = null, limit, ...args }: RequestLogArgs,
    @Ctx() { database, clock, caller }: RequestContext,
  ): Promise<RequestLogPage> {
    const { integratorId } = caller.requireClientCredentials();
    const now = clock.now();
    const filter = { ...args, ...toDateRange(args) };
    const window = { cursor, limit: limit ?? DEFAULT_LIMIT, now };
    const [{ data, meta }, dropped] = await Promise.all([
      readRequestLog(database, { ...filter, integratorId }, window),
      countDropped(database, integratorId, { ...filter, now }),
    ]);
    // Builders that have been disconnected since are not shown.
    for (const request of data)
      if (request.builderId !== null && !caller.isConnectedTo(request.builderId)) request.builderId = null;
    return { data, meta: { ...meta, dropped } };
  }

  @Query(() => UsageList, {
    description:
      "The requests of the integrator's clients by day, client and operation, in at most 31 days: by default the last ones.",
  })
  @Extensions({ cost: SLOW_READ_COST })
  @Rest('GET /usage', shared)
  async usage(
    @Args() range: UtcRangeArgs,
    @Ctx() { database, clock, caller }: RequestContext,
  ): Promise<{ data: UsageDay[] }> {
    const { integratorId } = caller.requireClientCredentials();
    return { data: await readUsageByOperation(database, integratorId, toUsageRange(toDateRange(range), clock.now())) };
  }
}
