import { ArgsType, Field } from 'type-graphql';
import { ListCursor } from '../../schema/list-cursor.scalar.ts';
import { UtcRangeArgs } from '../../schema/range.ts';
import { createIntegerScalar, createTextScalar, DEFAULT_LIMIT } from '../../schema/scalars.ts';

const RequestId = createTextScalar('RequestId', 'Value of `X-Request-Id`', 128, '8c1f0d9e-6f0b-4a53-9d54-0f4f6d2a7b11');
const ErrorCode = createTextScalar('ErrorCode', 'Code of an error', 100, 'INSUFFICIENT_SCOPE');

const ErrorStatus = createIntegerScalar('ErrorStatus', 'HTTP status of an error', 400, 599, 403);
const LogLimit = createIntegerScalar('LogLimit', 'Requests to return', 1, 100, DEFAULT_LIMIT, DEFAULT_LIMIT);

@ArgsType()
export class RequestLogArgs extends UtcRangeArgs {
  @Field(() => RequestId, { nullable: true, description: 'Only the requests with this id.' })
  requestId?: string | null;

  @Field(() => ErrorStatus, { nullable: true, description: 'Only requests that failed with this status.' })
  status?: number | null;

  @Field(() => ErrorCode, { nullable: true, description: 'Only requests that failed with this code.' })
  code?: string | null;

  @Field(() => ListCursor, { nullable: true, description: '`meta.nextCursor` of the page before.' })
  cursor?: string | null;

  @Field(() => LogLimit, {
    nullable: true,
    description: `Requests to return, 1 to 100. Default ${DEFAULT_LIMIT}.`,
  })
  limit?: number | null;
}
