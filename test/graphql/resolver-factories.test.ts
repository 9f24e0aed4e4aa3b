import { describe, expect, it } from 'vitest';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { createResolverFactories } from '../../src/graphql/engine/resolver-factories.ts';

const factories = createResolverFactories(buildServiceSchema());

describe('the resolver factories', () => {
  it.each(['Query.builders', 'Photo.imageUrl', 'Photo.rendition', 'Defect.photos'])(
    'include that of %s, a method of a resolver class',
    (name) => {
      expect(factories.has(name)).toBe(true);
    },
  );
});
