import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import type { RequestContext } from '../../auth/request-context.ts';
import type { Release } from '../../shared/fair-semaphore.ts';
import type { DocumentStore } from './document-store.ts';

/**
 * Limits each share to one new document at a time. Parsing, validating and compiling occupy the event loop, which a caller that sends only
 * new documents would occupy all the time.
 */
export class NewDocumentLimiter {
  readonly #store: DocumentStore;
  /** Functions that end the preparation of a request's document, by `usage`: Apollo copies the context. */
  readonly #preparations = new WeakMap<object, Release>();

  constructor(store: DocumentStore) {
    this.#store = store;
  }

  /** Waits for a permit of the request's share if its document is new. Rejects with 429 or 503. */
  async admit({ body, query, usage }: FastifyRequest): Promise<void> {
    const text = ((body ?? query) as { query?: unknown }).query;
    if (!usage || typeof text !== 'string' || this.#store.has(text)) return;
    this.#preparations.set(usage, await usage.occupyEventLoop());
  }

  /** Releases the permit once the document has been validated or rejected; the operation is compiled in the same tick. */
  plugin(): ApolloServerPlugin<RequestContext> {
    return {
      requestDidStart: async ({ contextValue: { usage } }) => {
        const end = async () => this.#preparations.get(usage)?.();
        return { didResolveOperation: end, didEncounterErrors: end };
      },
    };
  }
}
