import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLNamedType,
  getNamedType,
  isObjectType,
  Kind,
  type SelectionSetNode,
} from 'graphql';
import type { Caller } from '../../auth/caller.ts';
import { ApiError } from '../../shared/errors.ts';
import { idPattern } from '../../shared/ids.ts';
import type { FieldEdge } from '../engine/resolver-factories.ts';
import { isIncluded, type PendingOperation, toRawValue } from '../engine/root-fields.ts';
import { toGraphqlError } from './errors.ts';

type Values = Readonly<Record<string, unknown>>;

/** Where a selection set is: the type that it selects of, its response keys, and the builder that its root field names. */
interface Position {
  type: GraphQLNamedType;
  path: readonly string[];
  builderId: string | null;
}

const BUILDER_ID = idPattern('builder');

/**
 * Throws 403 for the first edge of an operation whose scope the token lacks, or the connection of the builder that its root field names. For
 * operations that are not executed: the error precedes those of their input (ERR-28).
 */
export function requireEdgeScopes({ schema, document, operation, sent }: PendingOperation, caller: Caller): void {
  const fragments = new Map<string, FragmentDefinitionNode>();
  for (const each of document.definitions) {
    if (each.kind === Kind.FRAGMENT_DEFINITION) fragments.set(each.name.value, each);
  }
  /** Names of the fragments that were checked, with the builder. */
  const checked = new Set<string>();

  const check = ({ selections }: SelectionSetNode, position: Position): void => {
    for (const selection of selections) {
      if (!isIncluded(selection.directives, sent)) continue;
      if (selection.kind === Kind.FIELD) {
        checkField(selection, position);
        continue;
      }
      const isSpread = selection.kind === Kind.FRAGMENT_SPREAD;
      const { selectionSet, typeCondition } = isSpread ? fragments.get(selection.name.value)! : selection;
      const type = typeCondition ? schema.getType(typeCondition.name.value)! : position.type;
      const key = isSpread && `${selection.name.value} ${position.builderId}`;
      if (key && checked.has(key)) continue;
      if (key) checked.add(key);
      check(selectionSet, { ...position, type });
    }
  };

  const checkField = (node: FieldNode, { type, path, builderId }: Position): void => {
    const field = isObjectType(type) && node.selectionSet && type.getFields()[node.name.value];
    if (!field) return;
    const below = [...path, (node.alias ?? node.name).value];
    requireScope(caller, (field.extensions.edge as FieldEdge | undefined)?.scope, builderId, below);
    const named = path.length === 0 ? findBuilderId(node, sent) : builderId;
    check(node.selectionSet!, { type: getNamedType(field.type), path: below, builderId: named });
  };

  check(operation.selectionSet, { type: schema.getRootType(operation.operation)!, path: [], builderId: null });
}

/** Returns the builder that a root field names; null where it names none. */
function findBuilderId({ arguments: given = [] }: FieldNode, variables: Values): string | null {
  const argument = given.find(({ name }) => name.value === 'builderId');
  const value = argument && toRawValue(argument.value, variables);
  return typeof value === 'string' && BUILDER_ID.test(value) ? value : null;
}

function requireScope(caller: Caller, scope: FieldEdge['scope'], builderId: string | null, path: string[]): void {
  if (scope === undefined) return;
  try {
    caller.requireScope(scope);
    if (builderId !== null) caller.requireConnectionScope(builderId, scope);
  } catch (error) {
    throw error instanceof ApiError ? toGraphqlError(error, path) : error;
  }
}
