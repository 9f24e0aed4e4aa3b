import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { type GraphQLObjectType, type GraphQLSchema, GraphQLUnionType } from 'graphql';
import { buildSchemaSync, getMetadataStorage } from 'type-graphql';
import type { MemberName } from '../src/graphql/engine/plan.ts';
import {
  createResolverFactories,
  type ResolverFactory,
  toFieldResolver,
  toResolverFactory,
} from '../src/graphql/engine/resolver-factories.ts';
import { authorizeEdge, authorizeOperation, type Field } from './field-authorization.ts';
import { resolvers } from './registry.ts';

/** Returns the executable schema of the whole service, with the authorization of every operation and edge. */
export function buildServiceSchema(): GraphQLSchema {
  // type-graphql would check the schema by an introspection query, which takes long. Apollo Server validates it.
  const schema = buildSchemaSync({ resolvers, validate: false, skipCheck: true });
  const factories = createResolverFactories(schema);
  const findFactory = ({ resolve }: Field, name: string, parent: string): ResolverFactory | null =>
    factories.get(`${parent}.${name}`) ?? (resolve ? toResolverFactory(resolve) : null);
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
