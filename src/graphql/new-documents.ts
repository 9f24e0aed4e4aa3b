import type { ApolloServerPlugin } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import type { Context } from '../../resolvers/context.ts';
import type { DocumentStore } from './document-store.ts';

/** For each millisecond that a new document took, milliseconds in which the event loop is left to other shares. */
const PAUSE_FACTOR = 3;

/**
 * Lets each share prepare one new document at a time, and pause after it. Parsing, validating and compiling occupy the event loop, so
 * that a caller whose every document is new would occupy it all the time.
 */
export class NewDocuments {
  readonly #store: DocumentStore;
  /** What ends the preparation of a request's document, by the usage of the request. */
  readonly #preparations = new WeakMap<object, () => void>();

  constructor(store: DocumentStore) {
    this.#store = store;
  }

  /** Waits until the share of the request may prepare its document, if it is new. Rejects with 429 or 503. */
  async admit({ body, query, context }: FastifyRequest): Promise<void> {
    const text = ((body ?? query) as { query?: unknown }).query;
    if (!context || typeof text !== 'string' || this.#store.has(text)) return;
    const { shares, shareKey, usage } = context;
    const release = await shares.documents.acquire(shareKey);
    const startedAt = performance.now();
    let hasEnded = false;
    const end = () => {
      if (!hasEnded) setTimeout(release, PAUSE_FACTOR * (performance.now() - startedAt));
      hasEnded = true;
    };
    this.#preparations.set(usage, end);
    usage.onEnd(end);
  }

  /** Ends the preparation once the document has been validated. It is compiled right after. */
  plugin(): ApolloServerPlugin<Context> {
    return {
      requestDidStart: async ({ contextValue: { usage } }) => ({
        didResolveOperation: async () => this.#preparations.get(usage)?.(),
      }),
    };
  }
}
