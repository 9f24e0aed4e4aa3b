import {
  type DocumentNode,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  isAbstractType,
  Kind,
  type OperationDefinitionNode,
  type SelectionNode,
  type SelectionSetNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { CompiledOperation } from './execution.ts';
import type { Fragments } from './plan.ts';

/** Maximum size estimate, in characters. Larger operations are interpreted: compiling them takes too long and too much memory. */
const MAX_SIZE = 20_000;
/** Size estimate of a field, beside its response key. */
const FIELD_SIZE = 20;

/**
 * Returns null for an operation that has to be interpreted: one with introspection, an abstract type without `memberName`, too large a
 * size, or several mutations, which run one after another.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation = getOperationAST(document),
): CompiledOperation | null {
  if (!operation || !isCompilable(schema, document)) return null;
  if (operation.operation === 'mutation' && operation.selectionSet.selections.length > 1) return null;
  const fragments = collectFragments(document);
  const size = estimateSize(operation, fragments);
  return size > MAX_SIZE ? null : new CompiledOperation(schema, operation, fragments, Math.floor(MAX_SIZE / size));
}

const collectFragments = ({ definitions }: DocumentNode): Fragments =>
  Object.fromEntries(
    definitions.flatMap((definition) =>
      definition.kind === Kind.FRAGMENT_DEFINITION ? [[definition.name.value, definition]] : [],
    ),
  );

function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  const typeInfo = new TypeInfo(schema);
  let compilable = true;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      Field: ({ alias, name }) => {
        const type = getNamedType(typeInfo.getType());
        compilable &&= name.value !== '__schema' && name.value !== '__type';
        // In an object literal `__proto__` sets the prototype.
        compilable &&= alias?.value !== '__proto__' && !(type && isAbstractType(type) && !type.extensions.memberName);
      },
    }),
  );
  return compilable;
}

/** Returns the size estimate, with a fragment counted wherever it is spread: a few lines of them can be millions of fields. */
function estimateSize(operation: OperationDefinitionNode, fragments: Fragments): number {
  const sizes = new Map<string, number>();
  const sizeOfFragment = (name: string): number => {
    const size = sizes.get(name) ?? sizeOfSet(fragments[name]!.selectionSet);
    sizes.set(name, size);
    return size;
  };
  const sizeOfSelection = (selection: SelectionNode): number => {
    if (selection.kind === Kind.FRAGMENT_SPREAD) return sizeOfFragment(selection.name.value);
    const own = selection.kind === Kind.FIELD ? FIELD_SIZE + (selection.alias ?? selection.name).value.length : 0;
    return own + (selection.selectionSet ? sizeOfSet(selection.selectionSet) : 0);
  };
  const sizeOfSet = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, selection) => sum + sizeOfSelection(selection), 0);
  return sizeOfSet(operation.selectionSet);
}
