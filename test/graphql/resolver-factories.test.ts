import { isObjectType } from 'graphql';
import { describe, expect, it } from 'vitest';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { createResolverFactories } from '../../src/graphql/engine/resolver-factories.ts';

const schema = buildServiceSchema();
const factories = createResolverFactories(schema);

describe('the resolver factories', () => {
  it.each(['Query.builders', 'Photo.imageUrl', 'Photo.rendition', 'Defect.photos'])(
    'include that of %s, a method of a resolver class',
    (name) => {
      expect(factories.has(name)).toBe(true);
    },
  );

  it('exist for fields of the schema alone', () => {
    const isField = (name: string) => {
      const [typeName, fieldName] = name.split('.') as [string, string];
      const type = schema.getType(typeName);
      return isObjectType(type) && fieldName in type.getFields();
    };
    expect([...factories.keys()].filter((name) => !isField(name))).toEqual([]);
  });
});
