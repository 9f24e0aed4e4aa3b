import { Transform } from 'node:stream';
import type { RequestPayload } from 'fastify';
import { Kind, type OperationDefinitionNode } from 'graphql';
import type { Operation } from '../../../schema/route-table.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { payloadTooLarge } from '../../shared/errors.ts';

/**
 * Limits the bodies of GraphQL requests. The operations with large bodies in REST may have them in GraphQL too. The operation is known
 * only from the body, so a large body is accepted from a caller with the scope of such an operation, charged to its budget before it is
 * read, and rejected when it has any other operation.
 */
export class LargeBodyRules {
  /** Maximum bytes of any body. */
  readonly limit: number;
  readonly #operations: ReadonlyMap<string, Operation>;
  /** Maximum bytes of the body of an operation without large ones. */
  readonly defaultLimit: number;

  /** @param defaultLimit maximum bytes of the body of any other operation. */
  constructor(operations: readonly Operation[], defaultLimit: number) {
    const large = operations.filter(({ kind, bodyLimit = 0 }) => kind === 'Mutation' && bodyLimit > defaultLimit);
    this.#operations = new Map(large.map((operation) => [operation.field, operation]));
    this.defaultLimit = defaultLimit;
    this.limit = Math.max(defaultLimit, ...large.map(({ bodyLimit }) => bodyLimit!));
  }

  /** Checks a large body before it is read. Throws 413, or 429 when the budget is used up. */
  admit(context: RequestContext): Promise<void> | undefined {
    const { scopes } = context.caller;
    const operation = [...this.#operations.values()].find(({ scope }) => scope === null || scopes.has(scope));
    if (!operation) throw payloadTooLarge(this.defaultLimit);
    context.largeBodyError = payloadTooLarge(this.defaultLimit);
    return operation.budget && context.charge(operation.budget);
  }

  /** Returns the stream of a body without Content-Length, limited to the default. */
  limitStream(payload: RequestPayload): RequestPayload {
    const limit = this.defaultLimit;
    let bytes = 0;
    const limited = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done(bytes > limit ? payloadTooLarge(limit) : null, chunk);
      },
    });
    payload.on('error', (error) => limited.destroy(error));
    return payload.pipe(limited);
  }

  /** Whether the operation calls nothing but operations with large bodies. */
  areAllowed({ selectionSet }: OperationDefinitionNode): boolean {
    return selectionSet.selections.every(
      (selection) => selection.kind === Kind.FIELD && this.#operations.has(selection.name.value),
    );
  }
}
