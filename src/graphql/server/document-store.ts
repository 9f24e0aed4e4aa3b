import type { ApolloServerOptions, BaseContext } from '@apollo/server';
import type { DocumentNode } from 'graphql';

type Store = NonNullable<ApolloServerOptions<BaseContext>['documentStore']>;

/** Maximum characters of all cached documents. A parsed character may take some hundred bytes of memory. */
const MAX_CHARACTERS = 250_000;

/**
 * Cache of parsed and validated documents, with the least recently used ones evicted. Apollo's own store counts characters of JSON, and
 * grows by hundreds of megabytes where every request has another document.
 */
export class DocumentStore implements Store {
  readonly #documents = new Map<string, DocumentNode>();
  readonly #queries = new Set<string>();
  #characters = 0;

  /** Whether the document of a query is cached. */
  has(query: string): boolean {
    return this.#queries.has(query);
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
      if (this.#characters <= MAX_CHARACTERS) return;
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
