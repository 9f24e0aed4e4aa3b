import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import { GraphQLObjectType, GraphQLScalarType, type GraphQLSchema, isInputObjectType } from 'graphql';
import { getValidator } from '../../schema/input.ts';

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

/**
 * Returns the schema that executes what `parseInput` has returned: types with a validator accept any value. Coercing a large photo
 * report a second time would take longer than everything else that the operation does in this process.
 */
export function createPrevalidatedSchema(schema: GraphQLSchema): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.TYPE]: (type) =>
      isInputObjectType(type) && getValidator(type) ? new GraphQLScalarType({ name: type.name }) : type,
  });
}
