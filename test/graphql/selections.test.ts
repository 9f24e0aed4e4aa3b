import { type GraphQLObjectType, getNamedType, isLeafType, isObjectType } from 'graphql';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { Project } from '../../entities/project.entity.ts';
import { Reads, recordType } from '../../schema/selection.ts';
import { Loaders } from '../../src/database/read/loaders.ts';
import { Reader } from '../../src/database/read/reader.ts';
import { projects } from '../../src/domain/readers/project.reader.ts';
import { useService } from '../support/harness.ts';
import { createSamples, type Samples } from '../support/samples.ts';
import {
  createDocument,
  edges,
  type Field,
  findSelectionPath,
  isEnvelope,
  printField,
  printSelection,
  requiredArguments,
} from '../support/schema-edges.ts';

const service = useService();
let samples: Samples;
let token: string;

beforeAll(async () => {
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
  token = await service.tokenOf('internal');
});

/** Returns the selection of a field with its own leaf fields; of a related record, `__typename` alone. */
function selectOwnFields(field: Field): string {
  const type = getNamedType(field.type);
  if (isLeafType(type)) return field.name;
  if (!isObjectType(type) || isEnvelope(type) || recordType(field.type).extensions.scope) {
    return `${printField(samples, field)} ${printSelection(field, '__typename')}`;
  }
  return `${field.name} { ${Object.values(type.getFields())
    .filter((inner) => isLeafType(getNamedType(inner.type)))
    .map(({ name }) => name)
    .join(' ')} }`;
}

/** Returns a selection of an edge once per field of its records, each time with that field alone. */
function selectEachField(edge: Field, record: GraphQLObjectType): string {
  return Object.values(record.getFields())
    .filter((field) => requiredArguments(field).length === 0)
    .map((field, at) => `alone${at}: ${printField(samples, edge)} ${printSelection(edge, selectOwnFields(field))}`)
    .join(' ');
}

const records = edges.map((edge) => ({ ...edge, record: recordType(edge.field.type) as GraphQLObjectType }));
const edgesByRecord = records.filter(({ record }, at) => records.findIndex((other) => other.record === record) === at);

/** Statements of builder access, and of records whose fields are computed from several columns. */
const READS_ALL_COLUMNS = /^(Builder\.one|Meeting\.page|PhotoReportContent\.)/;

/** Executes a document. Returns the response body and the names of the statements, except that of the token check. */
async function executeRecorded(document: string) {
  const names: string[] = [];
  const end = service.databases.au1.onStatement(({ name }) => names.push(name));
  const resets = vi.spyOn(Loaders.prototype, 'reset');
  const body = await service.graphql(token, document);
  end();
  expect(resets, 'The first execution succeeds.').not.toHaveBeenCalled();
  resets.mockRestore();
  return { body, names: names.filter((name) => name !== 'access.facts') };
}

/** Executes a document with readers that ignore the selection and read all columns. */
async function executeWithAllColumns(document: string) {
  const select = vi.spyOn(Reader.prototype, 'select').mockImplementation(function (this: unknown) {
    return this as never;
  });
  try {
    return await executeRecorded(document);
  } finally {
    select.mockRestore();
  }
}

const isPartialRead = (name: string) => name.includes('~');

describe.each(edgesByRecord)('a record read for one field alone, by $name', ({ type, field, record }) => {
  it('equals the record read with all columns', async () => {
    const document = createDocument(
      samples,
      findSelectionPath(type, 'write:sign_on_events')!,
      field,
      selectEachField(field, record),
    );
    const wholeRecords = await executeWithAllColumns(document);
    const narrow = await executeRecorded(document);
    expect(wholeRecords.body.errors, document).toBeUndefined();
    expect(wholeRecords.names.filter((name) => isPartialRead(name))).toEqual([]);
    expect(narrow.body).toEqual(wholeRecords.body);
    expect(narrow.names.filter((name) => !isPartialRead(name) && !READS_ALL_COLUMNS.test(name))).toEqual([]);
  });
});

describe('the record that a summary is of', () => {
  const insurances = (inner: string) =>
    `{ insurances(builderId: "${samples.BuilderId}") { data { subcontractor { details { ${inner} } } } } }`;

  it('is not read when only fields of the summary are selected', async () => {
    /** The first statement checks that the builder exists. */
    const compiled = async (inner: string) => {
      for (let use = 1; use < 3; use++) await executeRecorded(insurances(inner));
      return (await executeRecorded(insurances(inner))).names.map((name) => name.replace(/~.*?\./, '.')).slice(1);
    };
    expect(await compiled('id')).toEqual(['Insurance.page(builderId)']);
    expect(await compiled('contacts { data { name } }')).toEqual([
      'Insurance.page(builderId)',
      'Contact.page(subcontractorId)',
    ]);
    expect(await compiled('id abn')).toEqual(['Insurance.page(builderId)', 'Subcontractor.one()']);
  });

  it('is null once it is archived', async () => {
    const document = `{ projectInductions(builderId: "${samples.BuilderId}", projectId: "${samples.ProjectId}") {
      data { subcontractor { id details { id } } } } }`;
    const { data } = (await executeRecorded(document)).body;
    const [first] = data.projectInductions.data;
    const archive = (when: string) =>
      service.databases.au1
        .fork()
        .execute(`update subcontractor set archived_at = ${when} where id = ?`, [first.subcontractor.id]);
    await archive('now()');
    for (let use = 1; use <= 3; use++) {
      const [archived] = (await executeRecorded(document)).body.data.projectInductions.data;
      expect(archived.subcontractor).toEqual({ id: first.subcontractor.id, details: null });
    }
    await archive('null');
  });
});

describe('a record that is read in part', () => {
  const partly = projects.select({ paths: new Set(['name']), total: false, key: 'name' });

  it('has its owner and the selected fields only', async () => {
    const database = service.databases.au1;
    const page = await partly.findPage(database, { builderId: samples.BuilderId }, { offset: 0, limit: 1 });
    const { data } = page;
    expect({ ...data[0] }).toEqual({ builderId: samples.BuilderId, name: expect.any(String) });
    expect(data[0]).toBeInstanceOf(Project);
    expect(() => data[0]!.status).toThrow('status was not read');
    expect(() => page.meta).toThrow('not counted');
  });

  it('is requested by methods that declare the columns they read', () => {
    class Methods {
      @Reads('id')
      readsId(_parent: Pick<Project, 'id'>) {}

      // @ts-expect-error: `name` is read, too.
      @Reads('id')
      readsIdAndName(_parent: Pick<Project, 'id' | 'name'>) {}
    }
    // The compiler checks the declarations; `tsc` fails without the expected error.
    expect(new Methods()).toBeDefined();
  });
});
