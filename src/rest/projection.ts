import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import { GraphQLObjectType, GraphQLScalarType, type GraphQLSchema, isInputObjectType } from 'graphql';
import { inspectionOf } from '../../schema/input.ts';

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

/**
 * The schema for what `readVariables` has read: a value that was looked at as a whole is taken as it is. Its type would go through
 * all of it once more, which takes longer than all else that is done with a large photo report here.
 */
export function inspectedSchema(schema: GraphQLSchema): GraphQLSchema {
  return mapSchema(schema, {
    [MapperKind.TYPE]: (type) =>
      isInputObjectType(type) && inspectionOf(type) ? new GraphQLScalarType({ name: type.name }) : type,
  });
}
