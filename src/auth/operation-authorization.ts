import type { Budget } from '../../schema/rest.ts';
import type { Scope } from '../../schema/scopes.ts';
import { type AuthorizationContext, requireBuilder } from './authorization.ts';

/** Records that are charged for each root field in addition to those that it reads, to bound the root fields of a document. */
const OPERATION_RECORDS = 500;

/** What an operation requires of its caller, as the schema declares it. */
export interface OperationRequirements {
  /** Root field of the schema. */
  field: string;
  scope: Scope | null;
  budget?: Budget;
}

/**
 * Authorizes the operations of one request. REST authorizes its operation before the body is read; the resolver of the root field then
 * finds that authorization and uses it up, so that no check or charge is repeated. Every other root field is authorized by its resolver.
 */
export class OperationAuthorization {
  readonly #context: AuthorizationContext;
  readonly #charge: (budget: Budget) => Promise<void>;
  /** The call that was authorized before the body was read, until a resolver has used it. */
  #authorized: { field: string; builderId: string | undefined } | null = null;
  /** The budget that was charged before the body was read, until an operation that charges it has used it. */
  #charged: Budget | null = null;

  /** @param charge charges one request to the budget; throws 429 when it is used up. */
  constructor(context: AuthorizationContext, charge: (budget: Budget) => Promise<void>) {
    this.#context = context;
    this.#charge = charge;
  }

  /**
   * Checks scope and builder access and charges the budget (LIM-2), in the order of ERR-23, for the operation's next resolver call.
   * Undefined where there is nothing to wait for.
   */
  authorizeBeforeBody(operation: OperationRequirements, builderId?: string): Promise<void> | undefined {
    const pending = this.#check(operation, builderId);
    if (pending) return pending.then(() => this.#setAuthorized(operation, builderId));
    this.#setAuthorized(operation, builderId);
    return undefined;
  }

  #setAuthorized({ field }: OperationRequirements, builderId: string | undefined): void {
    this.#authorized = { field, builderId };
  }

  /** Charges the budget for the first operation that will need it. */
  async chargeBeforeBody(budget: Budget): Promise<void> {
    await this.#charge(budget);
    this.#charged = budget;
  }

  /** Authorizes a call of the operation; undefined where that was done before the body was read. */
  authorize(operation: OperationRequirements, builderId?: string): Promise<void> | undefined {
    if (this.#authorized?.field === operation.field && this.#authorized.builderId === builderId) {
      this.#authorized = null;
      return undefined;
    }
    return this.#authorize(operation, builderId);
  }

  /** Rejects and never throws: graphql-js would leave rejections of other root fields unhandled. */
  async #authorize(operation: OperationRequirements, builderId: string | undefined): Promise<void> {
    await this.#check(operation, builderId);
  }

  #check({ scope, budget }: OperationRequirements, builderId: string | undefined): Promise<void> | undefined {
    this.#context.caller.requireScope(scope);
    this.#context.loaders.reserveRecords(OPERATION_RECORDS);
    const pending = builderId === undefined ? undefined : requireBuilder(this.#context, builderId, scope);
    if (!budget) return pending;
    return pending ? pending.then(() => this.#chargeOnce(budget)) : this.#chargeOnce(budget);
  }

  async #chargeOnce(budget: Budget): Promise<void> {
    if (this.#charged === budget) this.#charged = null;
    else await this.#charge(budget);
  }
}
