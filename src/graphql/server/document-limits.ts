import type { FastifyRequest } from 'fastify';
import { type ASTVisitor, type DocumentNode, Kind, type ValidationContext, visit } from 'graphql';
import { ApiError, invalidField } from '../../shared/errors.ts';
import { graphqlError } from './errors.ts';
import { countFragmentVisits, MAX_FRAGMENT_VISITS } from './fragment-visits.ts';
import { countComparisons, MAX_COMPARISONS } from './selection-work.ts';

/** Characters of a document. Comments, blanks and texts are no tokens, so the limit of tokens does not bound them. */
export const MAX_CHARACTERS = 100_000;

/** Nodes of a document inside one another: above 20 fields with a page of four levels in an argument. */
export const MAX_NODE_DEPTH = 250;

const EMPTY: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/** Throws 400 for a document that is too long to be parsed. */
export async function limitLength({ body, query: parameters }: FastifyRequest): Promise<void> {
  const { query } = (body ?? parameters ?? {}) as { query?: unknown };
  if (typeof query !== 'string' || query.length <= MAX_CHARACTERS) return;
  throw invalidField(
    'query',
    `must have at most ${MAX_CHARACTERS} characters, not ${query.length}: send values as variables`,
  );
}

/**
 * A validation rule that refuses, before any other rule looks inside it, a document that would be slow to validate, and one that
 * holds a subscription, which this service does not have.
 */
export function limitDocument(context: ValidationContext): ASTVisitor {
  return {
    Document(document) {
      const problem = problemOf(document);
      if (!problem) return undefined;
      context.reportError(graphqlError(problem));
      // The other rules go on with what is returned.
      return EMPTY;
    },
  };
}

function problemOf(document: DocumentNode): ApiError | null {
  if (isTooDeep(document)) return invalidField('query', `must not nest deeper than ${MAX_NODE_DEPTH} levels`);
  const isSubscription = document.definitions.some(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'subscription',
  );
  if (isSubscription) {
    return new ApiError(400, 'SUBSCRIPTION_NOT_SUPPORTED', 'There are no subscriptions: send a query or a mutation.');
  }
  const visits = countFragmentVisits(document);
  if (visits > MAX_FRAGMENT_VISITS) {
    return invalidField(
      'query',
      `must not share fragments among so many operations: at least ${visits} visits would be needed, at most ${MAX_FRAGMENT_VISITS} are made`,
    );
  }
  const comparisons = countComparisons(document);
  if (comparisons > MAX_COMPARISONS) {
    return invalidField(
      'query',
      `must not repeat fields and fragments so often: at least ${comparisons} comparisons would be needed, at most ${MAX_COMPARISONS} are made`,
    );
  }
  return null;
}

function isTooDeep(document: DocumentNode): boolean {
  let depth = 0;
  let deepest = 0;
  visit(document, {
    enter() {
      deepest = Math.max(deepest, ++depth);
      // Nothing below it is looked at.
      return depth > MAX_NODE_DEPTH ? false : undefined;
    },
    leave() {
      depth--;
    },
  });
  return deepest > MAX_NODE_DEPTH;
}
