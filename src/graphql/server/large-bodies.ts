import { Transform } from 'node:stream';
import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyRequest, RequestPayload } from 'fastify';
import type { Operation } from '../../../schema/route-table.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { payloadTooLarge } from '../../shared/errors.ts';
import { graphqlError } from './errors.ts';

/**
 * GraphQL's bodies: as large as those of REST for the operations that take large ones there, and no larger than usual for all
 * others. Which operation it is stands in the body, so a large one is let in for a caller who may call such an operation, counts
 * against that operation's budget before it is read, and is refused when it asks for anything else.
 */
export class LargeBodies {
  /** Most bytes of any body. */
  readonly limit: number;
  readonly #operations: ReadonlyMap<string, Operation>;
  readonly #usual: number;

  /** @param usual most bytes of a body of any other operation. */
  constructor(operations: readonly Operation[], usual: number) {
    const large = operations.filter(({ kind, bodyLimit = 0 }) => kind === 'Mutation' && bodyLimit > usual);
    this.#operations = new Map(large.map((operation) => [operation.field, operation]));
    this.#usual = usual;
    this.limit = Math.max(usual, ...large.map(({ bodyLimit }) => bodyLimit!));
  }

  /** Before the body is read. Throws 413, or 429 when the budget is spent. */
  async admit(request: FastifyRequest): Promise<void> {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced <= this.#usual) return;
    const context = request.context!;
    const { scopes } = context.caller;
    const open = [...this.#operations.values()].find(({ scope }) => scope === null || scopes.has(scope));
    if (!open) throw payloadTooLarge(this.#usual);
    context.largeBody = payloadTooLarge(this.#usual);
    if (open.budget) await context.authorization.chargeBeforeBody(open.budget);
  }

  /** The body as it is to be read: one whose length was not announced is a usual one. */
  measure(request: FastifyRequest, payload: RequestPayload): RequestPayload {
    if (request.headers['transfer-encoding'] === undefined) return payload;
    const limit = this.#usual;
    let bytes = 0;
    const measured = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        bytes += chunk.length;
        done(bytes > limit ? payloadTooLarge(limit) : null, chunk);
      },
    });
    payload.on('error', (error) => measured.destroy(error));
    return payload.pipe(measured);
  }

  /** Refuses a large body that asks for anything but the operations that take one. */
  plugin(): ApolloServerPlugin<RequestContext> {
    return {
      requestDidStart: async () => ({
        didResolveOperation: async ({ contextValue, operation }) => {
          const { largeBody } = contextValue;
          if (!largeBody) return;
          const fits = operation?.selectionSet.selections.every(
            (selection) => selection.kind === 'Field' && this.#operations.has(selection.name.value),
          );
          if (!fits) throw graphqlError(largeBody);
        },
      }),
    };
  }
}
