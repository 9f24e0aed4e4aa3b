import { type GraphQLObjectType, isNonNullType } from 'graphql';
import { createRestSchema } from '../../src/rest/projection.ts';
import { schema } from './definition.ts';

const projection = createRestSchema(schema);

/** Returns every nullable field of a REST response type as null, so that a test names only those that have a value. */
export function nullFieldsOf(type: string): Record<string, null> {
  const fields = Object.values((projection.getType(type) as GraphQLObjectType).getFields());
  const nullable = fields.filter((field) => !isNonNullType(field.type) && !field.extensions.omittedWhenNull);
  return Object.fromEntries(nullable.map(({ name }) => [name, null]));
}
