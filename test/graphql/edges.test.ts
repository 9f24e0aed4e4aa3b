import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentOf, edges, isEnvelope, scopeOf, wayTo } from '../support/graph.ts';
import { type Service, startService } from '../support/harness.ts';
import { type Samples, samplesOf } from '../support/samples.ts';

let service: Service;
let samples: Samples;

beforeAll(async () => {
  service = await startService();
  samples = await samplesOf(service.databases.au1, service.demo('A').builderIds[0]!);
});

afterAll(() => service.stop());

describe.each(edges)('the edge $name', ({ type, field, scope }) => {
  const way = wayTo(type, scope);
  // Attendance types need an internal client, which has no connections.
  const name = scope === 'read:attendance' ? 'internal' : 'A';

  if (!way) {
    it('starts from a type with the same scope', () => expect(scopeOf(type)).toBe(scope));
    return;
  }

  it(`needs ${scope} (ACC-15)`, async () => {
    const document = documentOf(samples, way, field);
    const others = service.demo(name).scopes.filter((other) => other !== scope);
    const refused = await service.graphql(await service.as(name, others), document);
    expect(refused.errors?.[0]?.extensions, document).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      http: { status: 403 },
    });
    const allowed = await service.graphql(await service.as(name), document);
    expect(allowed.errors, document).toBeUndefined();
  });

  if (name === 'internal') return;

  it(`is 403 if the builder's connection does not allow ${scope} (ACC-6, ACC-15)`, async () => {
    const set = (scopes: readonly string[]) =>
      service.databases.au1
        .fork()
        .execute('update connection set scopes = ? where builder_id = ?', [`{${scopes.join()}}`, samples.BuilderId]);
    const { scopes } = service.demo('A');
    await set(scopes.filter((other) => other !== scope));
    service.clock.advance(1_000);
    try {
      const refused = await service.graphql(await service.as('A'), documentOf(samples, way, field));
      expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
      if (!isEnvelope(getNamedType(field.type))) return;
      // A page past the end has no record to authorize, but it has the total count.
      const count = documentOf(samples, way, field, `${field.name}(offset: 1000000) { meta { totalCount } }`);
      const counted = await service.graphql(await service.as('A'), count);
      expect(counted.errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
    } finally {
      await set(scopes);
      service.clock.advance(1_000);
    }
  });
});
