import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import { GraphQLObjectType, type GraphQLSchema } from 'graphql';

/**
 * The part of the schema that REST shows: the operations that carry `@Rest`, without the fields that GraphQL alone has.
 * SOFA selects every field of this schema, so it is also the shape of each answer and the order of its fields.
 */
export function restProjection(schema: GraphQLSchema): GraphQLSchema {
  const projected = mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (field) => (field.extensions?.rest ? field : null),
    [MapperKind.OBJECT_FIELD]: (field) => (field.extensions?.graphOnly ? null : field),
    [MapperKind.OBJECT_TYPE]: (type) => idFirst(type),
  });
  return pruneSchema(projected);
}

/** Inherited fields would come before it. */
function idFirst(type: GraphQLObjectType): GraphQLObjectType {
  const { fields, ...config } = type.toConfig();
  const { id, ...others } = fields;
  return id ? new GraphQLObjectType({ ...config, fields: { id, ...others } }) : type;
}
