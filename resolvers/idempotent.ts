import type { GraphQLResolveInfo } from 'graphql';
import { createParameterDecorator, type ResolverData } from 'type-graphql';
import type { RestRoute } from '../schema/rest.ts';
import { IDEMPOTENCY_ARGUMENT } from '../schema/route-table.ts';
import { IdempotencyKey } from '../schema/scalars.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import { canonicalJson, createFingerprint } from '../src/domain/canonical-json.ts';
import type { IdempotentRequest } from '../src/domain/create-once.ts';

const description =
  'Key of this creation, for 24 hours: a repeated request with it returns the record that the first one created.';

/**
 * Declares that a mutation takes an `Idempotency-Key`, as a header of REST and an argument of GraphQL (HDR-18). Injects the parameter of
 * `createOnce`; null without a key.
 */
export const Idempotent = (): ParameterDecorator => (target, method, index) => {
  const resolve = ({ args, context, info }: ResolverData<RequestContext>): IdempotentRequest | null => {
    const { [IDEMPOTENCY_ARGUMENT]: key, ...others } = args;
    if (key == null) return null;
    const { shareKey, caller, clock, operation } = context;
    const { params, query, body } = context.sentInput ?? toSentInput(others, info);
    return {
      digest: createFingerprint(canonicalJson([shareKey, caller.userId, String(method), key])),
      fingerprint: createFingerprint(canonicalJson([params, query, body])),
      now: clock.now(),
      onReplay() {
        context.outcome = 'REPLAYED';
        operation.isReplay = true;
      },
    };
  };
  const arg = { name: IDEMPOTENCY_ARGUMENT, typeFunc: () => IdempotencyKey, options: { nullable: true, description } };
  createParameterDecorator<RequestContext>(resolve, { arg })(target, method!, index);
};

/** Returns the input of the REST request that is equal to the arguments. */
function toSentInput(args: Record<string, unknown>, { parentType, fieldName }: GraphQLResolveInfo) {
  const { path } = parentType.getFields()[fieldName]!.extensions.rest as RestRoute;
  const { params = [], body = [] } = Object.groupBy(Object.entries(args), ([name]) =>
    path.includes(`{${name}}`) ? 'params' : 'body',
  );
  return { params: Object.fromEntries(params), query: {}, body: Object.fromEntries(body) };
}
