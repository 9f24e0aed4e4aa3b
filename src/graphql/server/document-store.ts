import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import type { FastifyRequest } from 'fastify';
import type { DocumentNode } from 'graphql';
import { costLimitExceeded } from '../../limits/response-meter.ts';
import { invalidField } from '../../shared/errors.ts';
import { MAX_CHARACTERS } from './document-limits.ts';

type Store = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

/** Maximum characters of the name of an operation. Errors repeat it. */
const MAX_NAME_CHARACTERS = 1_000;

/** Maximum characters of all cached documents. A parsed character may take some hundred bytes of memory. */
const CACHED_CHARACTERS = 250_000;

/**
 * Cache of parsed and validated documents, with the least recently used ones evicted. Apollo's own store counts characters of JSON, and
 * grows by hundreds of megabytes where every request has another document.
 */
export class DocumentStore implements Store {
  readonly #documents = new Map<string, DocumentNode>();
  readonly #queries = new Set<string>();
  #characters = 0;

  /**
   * Throws 400 for a document that is too long to be parsed, or a name that is too long to be repeated. Waits for a permit of the request's
   * share to occupy the event loop if the document is new: a caller that sends only new documents would occupy it all the time.
   */
  async admit({ body, query: parameters, usage }: FastifyRequest): Promise<void> {
    const { query, operationName } = (body ?? parameters ?? {}) as { query?: unknown; operationName?: unknown };
    if (typeof operationName === 'string' && operationName.length > MAX_NAME_CHARACTERS)
      throw invalidField('operationName', `must have at most ${MAX_NAME_CHARACTERS} characters`);
    if (typeof query !== 'string' || this.#queries.has(query)) return;
    if (query.length > MAX_CHARACTERS) throw costLimitExceeded('have so many characters', query.length, MAX_CHARACTERS);
    await usage?.acquireParsingPermit();
  }

  async get(key: string): Promise<DocumentNode | undefined> {
    const document = this.#documents.get(key);
    if (!document) return undefined;
    this.#documents.delete(key);
    this.#documents.set(key, document);
    return document;
  }

  async set(key: string, document: DocumentNode): Promise<void> {
    await this.delete(key);
    this.#documents.set(key, document);
    this.#queries.add(getQuery(document));
    this.#characters += getLength(document);
    for (const oldest of this.#documents.keys()) {
      if (this.#characters <= CACHED_CHARACTERS) return;
      await this.delete(oldest);
    }
  }

  async delete(key: string): Promise<boolean> {
    const document = this.#documents.get(key);
    if (!document) return false;
    this.#characters -= getLength(document);
    this.#queries.delete(getQuery(document));
    return this.#documents.delete(key);
  }
}

const getQuery = (document: DocumentNode) => document.loc?.source.body ?? '';
const getLength = (document: DocumentNode) => getQuery(document).length;
