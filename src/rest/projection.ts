import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import { GraphQLObjectType, type GraphQLSchema } from 'graphql';

/**
 * Returns the schema of REST: the operations with `@Rest`, without the fields marked `@GraphOnly`. SOFA selects every field, so it also
 * determines the fields of each response and their order.
 */
export function createRestSchema(schema: GraphQLSchema): GraphQLSchema {
  const projected = mapSchema(schema, {
    [MapperKind.ROOT_FIELD]: (field) => (field.extensions?.rest ? field : null),
    [MapperKind.OBJECT_FIELD]: (field) => (field.extensions?.graphOnly ? null : field),
    [MapperKind.OBJECT_TYPE]: (type) => withIdFirst(type),
  });
  return pruneSchema(projected);
}

/** Moves `id` before inherited fields. */
function withIdFirst(type: GraphQLObjectType): GraphQLObjectType {
  const { fields, ...config } = type.toConfig();
  const { id, ...others } = fields;
  return id ? new GraphQLObjectType({ ...config, fields: { id, ...others } }) : type;
}
