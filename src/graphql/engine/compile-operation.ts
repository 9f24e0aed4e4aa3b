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

/**
 * Letters that an operation is compiled of at most: beyond, it takes longer than anybody should wait for, and more memory than a
 * document should that is kept for its caller. The dashboards of the README have at most 600.
 */
const MAX_SIZE = 20_000;
/** What a field takes beside its name. */
const FIELD_SIZE = 20;

/**
 * Null where the operation has to be interpreted: it asks about the schema, its answer holds an abstract type whose members are not known, it is too large, or it is of
 * several mutations, which follow each other.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string | null,
): CompiledOperation | null {
  const operation = getOperationAST(document, operationName);
  if (!operation || !isCompilable(schema, document)) return null;
  if (operation.operation === 'mutation' && operation.selectionSet.selections.length > 1) return null;
  const fragments = fragmentsOf(document);
  const size = sizeOf(operation, fragments);
  return size > MAX_SIZE ? null : new CompiledOperation(schema, operation, fragments, Math.floor(MAX_SIZE / size));
}

const fragmentsOf = ({ definitions }: DocumentNode): Fragments =>
  Object.fromEntries(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
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
        // An object literal takes `__proto__` for something else than a name.
        compilable &&= alias?.value !== '__proto__' && !(type && isAbstractType(type) && !type.extensions.memberName);
      },
    }),
  );
  return compilable;
}

/** Letters of all fields, those of a fragment counted wherever it is spread: a few lines of them can be millions. */
function sizeOf(operation: OperationDefinitionNode, fragments: Fragments): number {
  const sizes = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const size = sizes.get(name) ?? ofSet(fragments[name]!.selectionSet);
    sizes.set(name, size);
    return size;
  };
  const ofSelection = (one: SelectionNode): number => {
    if (one.kind === Kind.FRAGMENT_SPREAD) return ofFragment(one.name.value);
    const own = one.kind === Kind.FIELD ? FIELD_SIZE + (one.alias ?? one.name).value.length : 0;
    return own + (one.selectionSet ? ofSet(one.selectionSet) : 0);
  };
  const ofSet = ({ selections }: SelectionSetNode): number =>
    selections.reduce((sum, one) => sum + ofSelection(one), 0);
  return ofSet(operation.selectionSet);
}
