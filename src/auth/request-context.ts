import type { Budget } from '../../schema/rest.ts';
import type { Loaders } from '../database/read/loaders.ts';
import type { OperationContext } from '../domain/operation-context.ts';
import type { ApiError } from '../shared/errors.ts';
import type { ResponseMeter } from '../shared/response-meter.ts';
import type { Caller } from './caller.ts';

/** What every resolver is given. One per HTTP request. */
export interface RequestContext extends OperationContext {
  readonly requestId: string;
  readonly caller: Caller;
  /** Value of `X-Service-Builder-Id`, of the syntax of a builder id. */
  readonly builderHeader: string | null;
  readonly loaders: Loaders;
  /** Counts the fields and bytes of the response while it is built. */
  readonly meter: ResponseMeter;
  /** What the request holds of the process's limits until its response has ended. */
  readonly usage: {
    /** Waits until the request may hold large values; rejects with 429 or 503. */
    acquireLargeRead(): Promise<void>;
    /** Calls the function when the response has ended, whether or not the client received it. */
    onEnd(release: () => void): void;
  };
  /** Charges one request to the budget; throws 429 when it is used up. */
  readonly charge: (budget: Budget) => Promise<void>;
  /** Set when an operation's budget was charged before the body was read. The first operation consumes that charge. */
  isCharged?: boolean;
  /** Set when the body is larger than most operations accept: the error that they reject it with. */
  largeBody?: ApiError;
  /** Name of the GraphQL operation, once it is known. */
  operationName?: string | null;
}
