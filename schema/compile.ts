import { MapperKind, mapSchema } from '@graphql-tools/utils';
import {
  type DocumentNode,
  GraphQLList,
  type GraphQLNamedType,
  GraphQLNonNull,
  type GraphQLOutputType,
  type GraphQLSchema,
  GraphQLString,
  getNamedType,
  isAbstractType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isScalarType,
  Kind,
  type NamedTypeNode,
  type SelectionSetNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { selectionOf } from './selection.ts';

/** Beyond, an operation takes longer to compile than anybody should wait for. */
const MAX_SIZE = 5_000;

/**
 * The operation as code of its own; null where it has to be interpreted: it asks about the schema, its input is a recursive type,
 * which would never be compiled to its end, its answer holds a union, which graphql-jit doesn't resolve, or it is too large.
 */
export function compileOperation(
  schema: GraphQLSchema,
  document: DocumentNode,
  operationName?: string,
): CompiledQuery | null {
  if (!isCompilable(schema, document)) return null;
  let plain = plainSchemas.get(schema);
  if (!plain) {
    plain = withPlainLeaves(schema);
    plainSchemas.set(schema, plain);
  }
  const compiled = compileQuery(plain, document, operationName, {
    disableLeafSerialization: true,
    resolverInfoEnricher: (place) => ({ selection: selectionOf(place) }),
  });
  return isCompiledQuery(compiled) ? (compiled as CompiledQuery) : null;
}

const plainSchemas = new WeakMap<GraphQLSchema, GraphQLSchema>();

/**
 * The schema, with a scalar of our own in no answer. What resolvers give is what is answered: our scalars print values as they
 * are, each value of an enum is its name, and what a field of GraphQL's own scalars gives is of its type
 * (`test/plain-leaves.test.ts`). For each value of a scalar that is not GraphQL's own, graphql-jit makes ready the error that it
 * might be.
 */
function withPlainLeaves(schema: GraphQLSchema): GraphQLSchema {
  const plain = (type: GraphQLOutputType): GraphQLOutputType => {
    if (isNonNullType(type)) return new GraphQLNonNull(plain(type.ofType));
    if (isListType(type)) return new GraphQLList(plain(type.ofType));
    return isScalarType(type) ? GraphQLString : type;
  };
  return mapSchema(schema, { [MapperKind.COMPOSITE_FIELD]: (field) => ({ ...field, type: plain(field.type) }) });
}

function isCompilable(schema: GraphQLSchema, document: DocumentNode): boolean {
  if (sizeOf(document) > MAX_SIZE) return false;
  const typeInfo = new TypeInfo(schema);
  let compilable = true;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      VariableDefinition: ({ type }) => {
        compilable &&= !isRecursive(getNamedType(typeFromAST(schema, type as NamedTypeNode)!));
      },
      Field: ({ alias, name }) => {
        const type = getNamedType(typeInfo.getType());
        // The schema that is compiled for is not the one that is told of.
        compilable &&= name.value !== '__schema' && name.value !== '__type';
        // An object literal takes `__proto__` for something else than a name.
        compilable &&= alias?.value !== '__proto__' && !(type && isAbstractType(type));
      },
    }),
  );
  return compilable;
}

/** Fields and fragments of a document, each fragment counted wherever it is spread: a few lines of them can be millions. */
function sizeOf({ definitions }: DocumentNode): number {
  const fragments = new Map(
    definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
  );
  const sizes = new Map<string, number>();
  const ofFragment = (name: string): number => {
    const size = sizes.get(name) ?? ofSet(fragments.get(name)?.selectionSet);
    sizes.set(name, size);
    return size;
  };
  const ofSet = (set: SelectionSetNode | undefined): number => {
    let size = 0;
    for (const one of set?.selections ?? []) {
      size += 1 + (one.kind === Kind.FRAGMENT_SPREAD ? ofFragment(one.name.value) : ofSet(one.selectionSet));
    }
    return size;
  };
  return definitions.reduce((sum, one) => sum + ('selectionSet' in one ? ofSet(one.selectionSet) : 0), 0);
}

/** Whether an input type leads to itself. */
function isRecursive(type: GraphQLNamedType, above: readonly GraphQLNamedType[] = []): boolean {
  if (!isInputObjectType(type)) return false;
  const path = [...above, type];
  return Object.values(type.getFields()).some((field) => {
    const inner = getNamedType(field.type);
    return path.includes(inner) || isRecursive(inner, path);
  });
}
