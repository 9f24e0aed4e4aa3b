import { getNamedType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';
import { createSamples, type Samples } from '../support/samples.ts';
import { createDocument, edges, findSelectionPath, isEnvelope, scopeOf } from '../support/schema-edges.ts';

let service: Service;
let samples: Samples;

beforeAll(async () => {
  service = await startService();
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

afterAll(() => service.stop());

describe.each(edges)('the edge $name', ({ type, field, scope }) => {
  const way = findSelectionPath(type, scope);
  // Attendance types need an internal client, which has no connections.
  const name = scope === 'read:attendance' ? 'internal' : 'A';

  if (!way) {
    it('starts from a type with the same scope', () => expect(scopeOf(type)).toBe(scope));
    return;
  }

  it(`needs ${scope} (ACC-15)`, async () => {
    const document = createDocument(samples, way, field);
    const others = service.findDemoClient(name).scopes.filter((other) => other !== scope);
    const refused = await service.graphql(await service.tokenOf(name, others), document);
    expect(refused.errors?.[0]?.extensions, document).toMatchObject({
      code: 'INSUFFICIENT_SCOPE',
      http: { status: 403 },
    });
    const allowed = await service.graphql(await service.tokenOf(name), document);
    expect(allowed.errors, document).toBeUndefined();
  });

  if (name === 'internal') return;

  it(`is 403 if the builder's connection does not allow ${scope} (ACC-6, ACC-15)`, async () => {
    const set = (scopes: readonly string[]) =>
      service.databases.au1
        .fork()
        .execute('update connection set scopes = ? where builder_id = ?', [`{${scopes.join()}}`, samples.BuilderId]);
    const { scopes } = service.findDemoClient('A');
    await set(scopes.filter((other) => other !== scope));
    service.clock.advance(1_000);
    try {
      const refused = await service.graphql(await service.tokenOf('A'), createDocument(samples, way, field));
      expect(refused.errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
      if (!isEnvelope(getNamedType(field.type))) return;
      // A page past the end has no record to authorize, but it has the total count.
      const count = createDocument(samples, way, field, `${field.name}(offset: 1000000) { meta { totalCount } }`);
      const counted = await service.graphql(await service.tokenOf('A'), count);
      expect(counted.errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
    } finally {
      await set(scopes);
      service.clock.advance(1_000);
    }
  });
});
