import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { type GraphQLObjectType, type GraphQLSchema, GraphQLUnionType } from 'graphql';
import { buildSchemaSync, getMetadataStorage } from 'type-graphql';
import type { RequestContext } from '../src/auth/request-context.ts';
import type { MemberName } from '../src/graphql/engine/plan.ts';
import {
  createResolverFactories,
  type ResolverFactory,
  toFieldResolver,
  toResolverFactory,
} from '../src/graphql/engine/resolver-factories.ts';
import { authorizeEdge, authorizeOperation, type Field, validateArguments } from './field-authorization.ts';
import { resolvers } from './registry.ts';

/** Returns the executable schema of the whole service, with the authorization and the argument rules of every operation and edge. */
export function buildServiceSchema(): GraphQLSchema {
  // type-graphql would check the schema by an introspection query, which takes long. Apollo Server validates it.
  const schema = buildSchemaSync({ resolvers, validate: false, skipCheck: true });
  const factories = createResolverFactories(schema);
  const findFactory = (field: Field, name: string, parent: string): ResolverFactory<RequestContext> | null => {
    const factory = factories.get(`${parent}.${name}`) ?? (field.resolve ? toResolverFactory(field.resolve) : null);
    return factory && validateArguments(field, factory as ResolverFactory<RequestContext>);
  };
  return mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (field, name, parent) => {
      const resolve = authorizeOperation(field, name, toFieldResolver(findFactory(field, name, parent)!));
      return {
        ...field,
        resolve,
        extensions: { ...field.extensions, edge: { createResolver: toResolverFactory(resolve) } },
      };
    },
    [MapperKind.OBJECT_FIELD]: (field, name, parent) =>
      authorizeEdge(field, name, findFactory(field, name, parent), schema.getType(parent) as GraphQLObjectType),
    [MapperKind.UNION_TYPE]: withMemberName,
  });
}

/** Makes a union's type resolver available to compiled operations. type-graphql wraps it in a promise, which ours does not need. */
function withMemberName(type: GraphQLUnionType): GraphQLUnionType {
  const { resolveType } = getMetadataStorage().unions.find(({ name }) => name === type.name)!;
  const memberName = resolveType as unknown as MemberName;
  return new GraphQLUnionType({ ...type.toConfig(), resolveType: memberName, extensions: { memberName } });
}
