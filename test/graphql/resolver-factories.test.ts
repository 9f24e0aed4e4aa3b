import { describe, expect, it } from 'vitest';
import { createResolverFactories } from '../../src/graphql/engine/resolver-factories.ts';
import { schema } from '../support/definition.ts';

const factories = createResolverFactories(schema);

describe('the resolver factories', () => {
  it.each(['Query.builders', 'Photo.imageUrl', 'Photo.rendition', 'Defect.photos'])(
    'include that of %s, a method of a resolver class',
    (name) => {
      expect(factories.has(name)).toBe(true);
    },
  );
});
