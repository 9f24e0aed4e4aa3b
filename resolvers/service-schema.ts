import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { type GraphQLObjectType, type GraphQLSchema, GraphQLUnionType, getNullableType } from 'graphql';
import { buildSchemaSync, getMetadataStorage } from 'type-graphql';
import type { RequestContext } from '../src/auth/request-context.ts';
import type { MemberName } from '../src/graphql/engine/plan.ts';
import {
  createResolverFactories,
  type ResolverFactory,
  toFieldResolver,
  toResolverFactory,
} from '../src/graphql/engine/resolver-factories.ts';
import { authorizeEdge, type Field, validateArguments } from './field-authorization.ts';
import { resolvers } from './registry.ts';

/** Returns the executable schema of the whole service, with the authorization and the argument rules of every edge. */
export function buildServiceSchema(): GraphQLSchema {
  // type-graphql would check the schema by an introspection query, which takes long. Apollo Server validates it.
  const schema = buildSchemaSync({ resolvers, validate: false, skipCheck: true });
  const factories = createResolverFactories(schema);
  const findFactory = (field: Field, name: string, parent: string): ResolverFactory<RequestContext> | null => {
    return factories.get(`${parent}.${name}`) ?? (field.resolve ? toResolverFactory(field.resolve) : null);
  };
  return mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (field, name, parent) => {
      // The pipeline authorizes an operation by its scope before it executes.
      if (!('scope' in (field.extensions ?? {})))
        throw new Error(`${name} declares neither a scope nor that it needs none.`);
      const isMutation = parent === schema.getMutationType()?.name;
      const createResolver = findFactory(field, name, parent)!;
      return {
        ...field,
        // One that fails does not hide what the others did.
        type: isMutation ? getNullableType(field.type) : field.type,
        resolve: toFieldResolver<RequestContext>({ createResolver }),
        extensions: { ...field.extensions, edge: { createResolver } },
      };
    },
    [MapperKind.OBJECT_FIELD]: (field, name, parent) =>
      authorizeEdge(
        field,
        name,
        validateArguments(field, findFactory(field, name, parent)),
        schema.getType(parent) as GraphQLObjectType,
      ),
    [MapperKind.UNION_TYPE]: withMemberName,
  });
}

/** Makes a union's type resolver available to compiled operations. type-graphql wraps it in a promise, which ours does not need. */
function withMemberName(type: GraphQLUnionType): GraphQLUnionType {
  const { resolveType } = getMetadataStorage().unions.find(({ name }) => name === type.name)!;
  const memberName = resolveType as unknown as MemberName;
  return new GraphQLUnionType({ ...type.toConfig(), resolveType: memberName, extensions: { memberName } });
}
