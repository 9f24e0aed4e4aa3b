import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType } from 'graphql';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { Project } from '../../entities/project.entity.ts';
import { Reads, recordType } from '../../schema/selection.ts';
import { Loaders, MAX_RECORDS } from '../../src/database/read/loaders.ts';
import { Reader } from '../../src/database/read/reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { call, documentOf, edges, type Field, isEnvelope, required, selected, wayTo } from '../support/graph.ts';
import { type Service, startService } from '../support/harness.ts';
import { type Samples, samplesOf } from '../support/samples.ts';

let service: Service;
let samples: Samples;
let token: string;

beforeAll(async () => {
  service = await startService();
  samples = await samplesOf(service.databases.au1, service.demo('A').builderIds[0]!);
  token = await service.as('internal');
});

afterAll(() => service.stop());

/** The field, with all that it holds of its own; of a record that it leads to, that it is there. */
function whole(field: Field): string {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return field.name;
  if (!isObjectType(type) || isEnvelope(type) || recordType(field.type).extensions.scope) {
    return `${call(samples, field)} ${selected(field, '__typename')}`;
  }
  return `${field.name} { ${Object.values(type.getFields())
    .filter((inner) => isLeafType(getNamedType(inner.type)))
    .map(({ name }) => name)
    .join(' ')} }`;
}

/** Every field of the records that an edge leads to, each asked for alone. */
function eachAlone(edge: Field, record: GraphQLObjectType): string {
  return Object.values(record.getFields())
    .filter((field) => required(field).length === 0)
    .map((field, at) => `alone${at}: ${call(samples, edge)} ${selected(edge, whole(field))}`)
    .join(' ');
}

const records = edges.map((edge) => ({ ...edge, record: recordType(edge.field.type) as GraphQLObjectType }));
const places = records.filter(({ record }, at) => records.findIndex((other) => other.record === record) === at);

/** Builder access, and records with fields that are made of several columns. */
const READ_WHOLE = /^(Builder\.one|Meeting\.page|PhotoReportContent\.)/;

/** The answer, and the names of the statements that it takes beyond the check of the token. */
async function answer(document: string) {
  const names: string[] = [];
  const end = service.databases.au1.onStatement(({ name }) => names.push(name));
  const again = vi.spyOn(Loaders.prototype, 'reset');
  const body = await service.graphql(token, document);
  end();
  expect(again, 'it was answered at the first try').not.toHaveBeenCalled();
  again.mockRestore();
  return { body, names: names.filter((name) => name !== 'access.facts') };
}

/** The same, with readers that disregard what is selected. */
async function answerOfWholeRecords(document: string) {
  const select = vi.spyOn(Reader.prototype, 'select').mockImplementation(function (this: unknown) {
    return this as never;
  });
  try {
    return await answer(document);
  } finally {
    select.mockRestore();
  }
}

const isNarrow = (name: string) => name.includes('~');

describe.each(places)('a record read for one field alone, by $name', ({ type, field, record }) => {
  it('is what it is when it is read whole', async () => {
    const document = documentOf(samples, wayTo(type, null)!, field, eachAlone(field, record));
    const wholeRecords = await answerOfWholeRecords(document);
    const narrow = await answer(document);
    expect(wholeRecords.body.errors, document).toBeUndefined();
    expect(wholeRecords.names.filter((name) => isNarrow(name))).toEqual([]);
    expect(narrow.body).toEqual(wholeRecords.body);
    expect(narrow.names.filter((name) => !isNarrow(name) && !READ_WHOLE.test(name))).toEqual([]);
  });
});

describe('the record that a summary is of', () => {
  const insurances = (inner: string) =>
    `{ insurances(builderId: "${samples.BuilderId}") { data { subcontractor { details { ${inner} } } } } }`;

  it('is not read where nothing is asked of it but what the summary tells', async () => {
    /** Whether the builder is there comes first. */
    const compiled = async (inner: string) => {
      for (let use = 1; use < 3; use++) await answer(insurances(inner));
      return (await answer(insurances(inner))).names.map((name) => name.replace(/~.*?\./, '.')).slice(1);
    };
    expect(await compiled('id')).toEqual(['Insurance.page(builderId)']);
    expect(await compiled('contacts { data { name } }')).toEqual([
      'Insurance.page(builderId)',
      'Contact.page(subcontractorId)',
    ]);
    expect(await compiled('id abn')).toEqual(['Insurance.page(builderId)', 'Subcontractor.one()']);
  });

  it('counts among those that a request may ask for', async () => {
    const loaders = new Loaders(service.databases.au1);
    const reader = projects.select({ paths: new Set(['id']), total: false, key: 'id' });
    const summary = { id: samples.ProjectId!, builderId: samples.BuilderId! };
    for (let record = 1; record <= MAX_RECORDS; record++)
      expect(loaders.loadFromSummary(reader, summary)).toMatchObject(summary);
    await expect(loaders.loadFromSummary(reader, summary)).rejects.toMatchObject({ status: 400 });
  });

  it('is null once it is archived', async () => {
    const document = `{ projectInductions(builderId: "${samples.BuilderId}", projectId: "${samples.ProjectId}") {
      data { subcontractor { id details { id } } } } }`;
    const { data } = (await answer(document)).body;
    const [first] = data.projectInductions.data;
    const archive = (when: string) =>
      service.databases.au1
        .fork()
        .execute(`update subcontractor set archived_at = ${when} where id = ?`, [first.subcontractor.id]);
    await archive('now()');
    for (let use = 1; use <= 3; use++) {
      const [archived] = (await answer(document)).body.data.projectInductions.data;
      expect(archived.subcontractor).toEqual({ id: first.subcontractor.id, details: null });
    }
    await archive('null');
  });
});

describe('a record that is read in part', () => {
  const partly = projects.select({ paths: new Set(['name']), total: false, key: 'name' });

  it('tells whose it is, and no more than was asked for', async () => {
    const database = service.databases.au1;
    const page = await partly.findPage(database, { builderId: samples.BuilderId }, { offset: 0, limit: 1 });
    const { data } = page;
    expect({ ...data[0] }).toEqual({ builderId: samples.BuilderId, name: expect.any(String) });
    expect(data[0]).toBeInstanceOf(Project);
    expect(() => data[0]!.status).toThrow('status was not read');
    expect(() => page.meta).toThrow('not counted');
  });

  it('is asked for by methods that say what they read', () => {
    class Methods {
      @Reads('id')
      said(_parent: Pick<Project, 'id'>) {}

      // @ts-expect-error: `name` is read, too.
      @Reads('id')
      unsaid(_parent: Pick<Project, 'id' | 'name'>) {}
    }
    expect(new Methods()).toBeDefined();
  });
});
