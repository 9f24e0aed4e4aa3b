import { getNamedType } from 'graphql';
import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/harness.ts';
import { createSamples, type Samples } from '../support/samples.ts';
import {
  createDocument,
  edges,
  findSelectionPath,
  isEnvelope,
  printSelection,
  scopeOf,
} from '../support/schema-edges.ts';

const service = useService();
let samples: Samples;

beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
});

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

  if (field.args.length > 0) {
    it(`needs ${scope} before its arguments are read (ERR-28)`, async () => {
      const others = await service.tokenOf(
        name,
        service.findDemoClient(name).scopes.filter((other) => other !== scope),
      );
      // No type of an argument accepts an object of which it knows no field.
      const given = (print: (name: string) => string) =>
        createDocument(
          samples,
          way,
          field,
          `${field.name}(${field.args.map((one) => `${one.name}: ${print(one.name)}`).join(', ')}) ${printSelection(field, '__typename')}`,
        );
      const variables = Object.fromEntries(field.args.map((one) => [one.name, { unknown: true }]));
      const declared = field.args.map((one) => `$${one.name}: ${one.type}`).join(', ');
      for (const [document, sent] of [
        [given(() => '{ unknown: true }')],
        [`query (${declared}) ${given((argument) => `$${argument}`)}`, variables],
      ] as const) {
        const refused = await service.graphql(others, document, sent);
        expect(refused.errors?.[0]?.extensions, document).toMatchObject({
          code: 'INSUFFICIENT_SCOPE',
          http: { status: 403 },
        });
        const allowed = await service.graphql(await service.tokenOf(name), document, sent);
        expect(allowed.errors?.[0]?.extensions, document).toMatchObject({
          code: 'BAD_USER_INPUT',
          errors: expect.arrayContaining(
            field.args.map((one) =>
              expect.objectContaining({ fieldName: expect.stringMatching(new RegExp(`^${one.name}\\b`)) }),
            ),
          ),
        });
      }
    });
  }

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
      if (field.args.length > 0 && way[0]!.field.args.some((argument) => argument.name === 'builderId')) {
        const wrong = `${field.name}(${field.args[0]!.name}: { unknown: true }) ${printSelection(field, '__typename')}`;
        const before = await service.graphql(await service.tokenOf('A'), createDocument(samples, way, field, wrong));
        expect(before.errors?.[0]?.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE', http: { status: 403 } });
      }
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
