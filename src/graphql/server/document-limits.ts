import { type ASTVisitor, type DocumentNode, Kind, type ValidationContext, visit } from 'graphql';
import { costLimitExceeded } from '../../limits/response-meter.ts';
import { ApiError } from '../../shared/errors.ts';
import { toGraphqlError } from './errors.ts';
import { countFragmentVisits, MAX_FRAGMENT_VISITS } from './fragment-visits.ts';
import { countComparisons, MAX_COMPARISONS } from './selection-work.ts';

/** Maximum characters of a document. The limit of tokens does not bound comments, white space and the length of strings. */
export const MAX_CHARACTERS = 100_000;

/** Maximum nesting of nodes: 20 fields with a page of four levels in an argument need less. */
export const MAX_NODE_DEPTH = 250;

const EMPTY: DocumentNode = { kind: Kind.DOCUMENT, definitions: [] };

/**
 * Validation rule that rejects a document that would be slow to validate, before the other rules visit it, and one with a
 * subscription.
 */
export function limitDocument(context: ValidationContext): ASTVisitor {
  return {
    Document(document) {
      const error = findError(document);
      if (!error) return undefined;
      context.reportError(toGraphqlError(error));
      // The other rules visit the returned document.
      return EMPTY;
    },
  };
}

function findError(document: DocumentNode): ApiError | null {
  const depth = computeDepth(document);
  if (depth > MAX_NODE_DEPTH) return costLimitExceeded('nest so many levels', depth, MAX_NODE_DEPTH);
  const isSubscription = document.definitions.some(
    (definition) => definition.kind === Kind.OPERATION_DEFINITION && definition.operation === 'subscription',
  );
  if (isSubscription) {
    return new ApiError('SUBSCRIPTION_NOT_SUPPORTED', 'There are no subscriptions: send a query or a mutation.');
  }
  const visits = countFragmentVisits(document);
  if (visits > MAX_FRAGMENT_VISITS)
    return costLimitExceeded('share fragments among so many operations', visits, MAX_FRAGMENT_VISITS);
  const comparisons = countComparisons(document);
  if (comparisons > MAX_COMPARISONS)
    return costLimitExceeded('need so many comparisons of fields and fragments', comparisons, MAX_COMPARISONS);
  return null;
}

function computeDepth(document: DocumentNode): number {
  let depth = 0;
  let deepest = 0;
  visit(document, {
    enter() {
      deepest = Math.max(deepest, ++depth);
    },
    leave() {
      depth--;
    },
  });
  return deepest;
}
