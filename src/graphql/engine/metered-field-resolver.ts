import { defaultFieldResolver, type GraphQLFieldResolver } from 'graphql';
import type { ResponseMeter } from '../../limits/response-meter.ts';

/** What graphql-js calls for fields without a method, when it interprets an operation: counts what the response is built of. */
export const meteredFieldResolver: GraphQLFieldResolver<unknown, { meter: ResponseMeter }> = (
  source,
  args,
  context,
  info,
) => {
  const value: unknown = defaultFieldResolver(source, args, context, info);
  const { meter } = context;
  meter.fields++;
  meter.bytes += String(info.path.key).length + 4 + (typeof value === 'object' ? 2 : meter.sizeOf(value));
  meter.check();
  return value;
};
