import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import type { RequestContext } from '../../auth/request-context.ts';
import type { Release } from '../../shared/fair-semaphore.ts';
import type { DocumentStore } from './document-store.ts';

/**
 * Lets each share prepare one new document at a time. Parsing, validating and compiling occupy the event loop, so that a caller whose
 * every document is new would occupy it all the time.
 */
export class NewDocuments {
  readonly #store: DocumentStore;
  /** What ends the preparation of a request's document, by the usage of the request. */
  readonly #preparations = new WeakMap<object, Release>();

  constructor(store: DocumentStore) {
    this.#store = store;
  }

  /** Waits until the share of the request may prepare its document, if it is new. Rejects with 429 or 503. */
  async admit({ body, query, usage }: FastifyRequest): Promise<void> {
    const text = ((body ?? query) as { query?: unknown }).query;
    if (!usage || typeof text !== 'string' || this.#store.has(text)) return;
    this.#preparations.set(usage, await usage.occupyEventLoop());
  }

  /** Ends the preparation once the document has been validated. It is compiled right after. */
  plugin(): ApolloServerPlugin<RequestContext> {
    return {
      requestDidStart: async ({ contextValue: { usage } }) => ({
        didResolveOperation: async () => this.#preparations.get(usage)?.(),
      }),
    };
  }
}
