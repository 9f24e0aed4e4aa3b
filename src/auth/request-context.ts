import type { Budget } from '../../schema/rest.ts';
import type { AuditSource } from '../domain/audit/record-audit.ts';
import type { EventSelection } from '../domain/events/event-filter.ts';
import type { LogPosition } from '../domain/events/event-log.ts';
import type { OperationContext } from '../domain/operation-context.ts';
import type { FailureReason } from '../domain/request-log/request-log.ts';
import type { ResponseMeter } from '../limits/response-meter.ts';
import type { ApiError, FieldError } from '../shared/errors.ts';
import type { AuthorizationContext, OperationRequirements } from './authorization.ts';
import type { Caller } from './caller.ts';
import type { EventWaitResult } from './event-waits.ts';
import type { RequestUsage } from './request-usage.ts';

/** Properties of a request's operation for the log and the metrics. */
interface ExecutedOperation {
  /** Name of the REST operation, or of the GraphQL operation once it is known. */
  name: string | null;
  /** Cost of a GraphQL operation; 0 before it is known. */
  cost: number;
  /** The first GraphQL error. */
  failure?: FailureReason;
  /** The first builder that a GraphQL operation names. */
  builderId?: string;
  /** Name of the tool that calls the operation. */
  tool?: string;
  /** Whether an earlier request with its `Idempotency-Key` has created the record. */
  isReplay?: boolean;
  /** Result that is sent in chunks, in place of the response of Apollo Server. */
  largeResult?: object;
}

/** Context value of the resolvers. One per HTTP request. */
export interface RequestContext extends OperationContext, AuthorizationContext {
  readonly requestId: string;
  /** Who makes a change, and from where, for the audit log. */
  readonly source: AuditSource;
  caller: Caller;
  /** Counts the fields and bytes of the response while it is built. */
  readonly meter: ResponseMeter;
  /** Use of the limits that callers share, until the response has ended. */
  readonly usage: Pick<RequestUsage, 'endOccupation' | 'onEnd'>;
  /** Throws or rejects unless the caller may call the operation for the builder; undefined where there is nothing to wait for. */
  authorize(operation: OperationRequirements, builderId?: string): Promise<void> | undefined;
  /** Input of a REST operation that takes an `Idempotency-Key`, as it was sent. */
  sentInput?: { params: unknown; query: unknown; body: unknown };
  /** Builder that a REST operation is called for, which is authorized before its body is read. */
  builderId?: string;
  /** Charges the budget until the request has been charged so many times in all, once by default; rejects with 429. */
  charge(budget: Budget, total?: number): Promise<void>;
  /** Looks the caller up again that was not found a moment ago, and returns whether it was. Throws 401 if access has ended. */
  renewCaller(): Promise<boolean>;
  /** Authenticates the request's token again, with what is stored after the call. Throws 401. */
  refreshCaller(): Promise<Caller>;
  /** Whether the request may wait for events. Those of GraphQL hold their cost meanwhile, so that they may not. */
  canWait?: boolean;
  /** Waits until the caller sees an event after the position. */
  waitForEvents(after: LogPosition, selection: EventSelection, timeoutMs: number): Promise<EventWaitResult>;
  /** Set when the body is larger than most operations accept: the error that they reject it with. */
  largeBodyError?: ApiError;
  /** Set when texts or names in the body cannot be stored: their errors, which belong to those of the input. ERR-9. */
  textErrors?: readonly FieldError[];
  /** An object of its own, because Apollo Server copies the context. */
  readonly operation: ExecutedOperation;
}
