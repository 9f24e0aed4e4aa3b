import {
  type FieldNode,
  type GraphQLNamedType,
  getNamedType,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql';
import { isId } from '../../../schema/ids.ts';
import type { Caller } from '../../auth/caller.ts';
import { ApiError } from '../../shared/errors.ts';
import type { FieldEdge } from '../engine/resolver-factories.ts';
import { listFields, type PendingOperation } from '../engine/root-fields.ts';
import { toGraphqlError } from './errors.ts';

/**
 * Throws 403 for the first edge of an operation whose scope the token lacks, or the connection of the builder that its root field names. For
 * operations with invalid input, whose errors this one precedes (ERR-28): execution checks the edges of the others.
 */
export function requireEdgeScopes(
  { schema, document, operation, allVariables }: PendingOperation,
  caller: Caller,
): void {
  /** Selection sets that were checked for the builder of a root field: those of fragments may be spread a thousand times. */
  const checked = new Map<string | null, Set<SelectionSetNode>>();

  const check = (type: GraphQLNamedType, set: SelectionSetNode, path: string[], builderId: string | null): void => {
    const sets = checked.get(builderId) ?? new Set();
    if (sets.has(set)) return;
    checked.set(builderId, sets.add(set));
    for (const { key, node, field } of listFields(schema, document, type, set, allVariables)) {
      const { scope } = (field.extensions.edge ?? {}) as Partial<FieldEdge>;
      const below = [...path, key];
      try {
        caller.requireScope(scope ?? null);
        if (builderId !== null && scope) caller.requireConnectionScope(builderId, scope);
      } catch (error) {
        throw error instanceof ApiError ? toGraphqlError(error, below) : error;
      }
      const named = path.length === 0 ? findBuilderId(node, allVariables) : builderId;
      if (node.selectionSet) check(getNamedType(field.type), node.selectionSet, below, named);
    }
  };

  check(schema.getRootType(operation.operation)!, operation.selectionSet, [], null);
}

/** Returns the builder that a root field names; null where it names none. */
function findBuilderId({ arguments: given = [] }: FieldNode, variables: Record<string, unknown>): string | null {
  const argument = given.find(({ name }) => name.value === 'builderId');
  const value = argument && valueFromASTUntyped(argument.value, variables);
  return typeof value === 'string' && isId('builder', value) ? value : null;
}
