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
  type NamedTypeNode,
  TypeInfo,
  typeFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { type CompiledQuery, compileQuery, isCompiledQuery } from 'graphql-jit';
import { selectionOf } from './selection.ts';

/**
 * The operation as code of its own; null where it has to be interpreted: its input is a recursive type, which would never be
 * compiled to its end, or its answer holds a union, which graphql-jit doesn't resolve.
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
 * are, and each value of an enum is its name. graphql-jit believes that of built-in scalars and of enums alone; for each value
 * of another it makes ready the error that it might be.
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
  const typeInfo = new TypeInfo(schema);
  let compilable = true;
  visit(
    document,
    visitWithTypeInfo(typeInfo, {
      VariableDefinition: ({ type }) => {
        compilable &&= !isRecursive(getNamedType(typeFromAST(schema, type as NamedTypeNode)!));
      },
      Field: ({ alias }) => {
        const type = getNamedType(typeInfo.getType());
        // An object literal takes `__proto__` for something else than a name.
        compilable &&= alias?.value !== '__proto__' && !(type && isAbstractType(type));
      },
    }),
  );
  return compilable;
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
