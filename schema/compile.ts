import {
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  isAbstractType,
  isInputObjectType,
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
  const compiled = compileQuery(schema, document, operationName, {
    resolverInfoEnricher: (place) => ({ selection: selectionOf(place) }),
  });
  return isCompiledQuery(compiled) ? (compiled as CompiledQuery) : null;
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
