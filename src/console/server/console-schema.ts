import { addResolversToSchema } from '@graphql-tools/schema';
import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import { extendSchema, type GraphQLFieldConfig, type GraphQLSchema, getNamedType, parse } from 'graphql';
import { findSelection, recordType, type Selection } from '../../../schema/selection.ts';
import { InvalidInputError } from '../../domain/access/invalid-input-error.ts';
import type { StaffAction } from '../../domain/access/staff-roles.ts';
import type { FieldEdge, ResolverFactory } from '../../graphql/engine/resolver-factories.ts';
import { toFieldResolver, toResolverFactory } from '../../graphql/engine/resolver-factories.ts';
import { invalidField } from '../../shared/errors.ts';
import { accessArea } from './access/access.area.ts';
import { attendanceArea } from './attendance/attendance.area.ts';
import type { ConsoleArea, ConsoleContext, ConsoleOperation, Resolve } from './console-area.ts';
import { figuresArea } from './figures/figures.area.ts';
import { runInShare } from './load-batched.ts';
import { peopleArea } from './people/people.area.ts';
import { findPersonalType, type PersonalType } from './personal-reads.ts';
import { recordsArea } from './records/records.area.ts';
import { sessionArea } from './session/session.area.ts';
import { usageArea } from './usage/usage.area.ts';
import { webhookArea } from './webhooks/webhooks.area.ts';

type Field = GraphQLFieldConfig<unknown, ConsoleContext>;

const AREAS: ConsoleArea[] = [
  sessionArea,
  accessArea,
  peopleArea,
  attendanceArea,
  usageArea,
  webhookArea,
  figuresArea,
  recordsArea,
];

/** Queries of integrators about themselves that the console leaves out, beside those in place of which it has its own. */
const LEFT_OUT = ['events', 'usage', 'webhookDeliveries', 'snapshot', 'snapshots'];

/** The action that reading builders' records is. */
const READ_RECORDS: StaffAction = 'records.read';

/**
 * Returns the console's schema: the integrators' queries, and the types and operations of the console. Integrators' mutations are left
 * out, because the console changes no records of integrators. The given schema stays as it is.
 */
export function buildConsoleSchema(integratorSchema: GraphQLSchema): GraphQLSchema {
  const queries = mapSchema(integratorSchema, {
    [MapperKind.QUERY_ROOT_FIELD]: (field, name) =>
      LEFT_OUT.includes(name) || AREAS.some(({ queries = {} }) => name in queries)
        ? null
        : { ...field, ...observeRoot(field) },
    [MapperKind.MUTATION_ROOT_FIELD]: () => null,
    [MapperKind.OBJECT_FIELD]: observeField,
  });
  const rows = AREAS.flatMap(({ pages = [] }) => pages);
  const pages = rows.map((row) => `type ${row}Page { data: [${row}!]! meta: CursorMeta! }`);
  const extended = extendSchema(queries, parse([...AREAS.map(({ types }) => types), ...pages].join('\n')));
  const resolvers: Record<string, Record<string, object>> = { Query: {}, Mutation: {} };
  for (const { queries = {}, mutations = {}, fields = {} } of AREAS) {
    for (const [name, operation] of Object.entries(queries)) {
      const field = toRootField(operation, false);
      const { type } = extended.getQueryType()!.getFields()[name]!;
      const isPageOfRecords = operation.action === READ_RECORDS && getNamedType(type).extensions.envelope;
      resolvers.Query![name] = isPageOfRecords ? observeRoot({ ...field, type }) : field;
    }
    for (const [name, operation] of Object.entries(mutations)) resolvers.Mutation![name] = toRootField(operation, true);
    for (const [type, methods] of Object.entries(fields)) {
      const entries = Object.entries(methods).map(([name, resolve]) => [name, toEdge(resolve as Resolve)]);
      resolvers[type] = { ...resolvers[type], ...Object.fromEntries(entries) };
    }
  }
  // The records of a page count once for each in the cost of a query.
  for (const row of [...rows, 'BuilderMatch']) resolvers[`${row}Page`] = { __extensions: { envelope: true } };
  return pruneSchema(
    addResolversToSchema({ schema: extended, resolvers: resolvers as never, updateResolversInPlace: true }),
  );
}

/** Notes the people whom the result of a query of builders' records is about. */
function observeRoot({ type, extensions }: Pick<Field, 'type' | 'extensions'>) {
  const { createResolver } = extensions!.edge as FieldEdge<ConsoleContext>;
  const edge = { createResolver: observe(type, createResolver) ?? createResolver };
  return { resolve: toFieldResolver<ConsoleContext>(edge), extensions: { ...extensions, action: READ_RECORDS, edge } };
}

/** Fields that name people in a text or free-form object. */
const PERSONAL_FIELDS = new Set(['PhotoReport.request']);

/** Notes the people whom the records of a field are about. */
function observeField(field: Field, fieldName: string, parent: string): Field {
  const name = `${parent}.${fieldName}`;
  const edge = field.extensions?.edge as FieldEdge<ConsoleContext> | undefined;
  const createResolver =
    edge &&
    (PERSONAL_FIELDS.has(name)
      ? observeText(edge.createResolver, name)
      : observe(field.type, edge.createResolver, parent));
  if (!createResolver) return field;
  const observed = { ...edge, createResolver };
  return { ...field, resolve: toFieldResolver(observed), extensions: { ...field.extensions, edge: observed } };
}

/** Notes the record whose field names people. */
const observeText =
  (create: ResolverFactory<ConsoleContext>, category: string): ResolverFactory<ConsoleContext> =>
  (args, context, info) => {
    context.personalReads.requireAllowed();
    const resolve = create(args, context, info);
    return (source) => {
      context.personalReads.addRecord((source as { id: string }).id, category, findBuilderId(source as object));
      return resolve(source);
    };
  };

/** Returns a resolver factory that notes the people, and rejects a role that may not read of them; null for a field whose records are about no person. */
function observe(
  fieldType: Field['type'],
  create: ResolverFactory<ConsoleContext>,
  parent?: string,
): ResolverFactory<ConsoleContext> | null {
  const type = recordType(fieldType);
  const category = type.name;
  const personal = findPersonalType(type, parent);
  if (!personal) return null;
  const { envelope } = getNamedType(fieldType).extensions;
  const toRecords = (result: unknown) => (envelope ? (result as { data: object[] }).data : [result].flat());
  return (args, context, info) => {
    const selection = findSelection(info);
    const isSearched = personal.isSearchedByName && Boolean((args as { search?: string | null }).search?.trim());
    const isOfPeople = personal.isOfPerson || isSearched;
    if (!isOfPeople && !personal.isPersonal(selection)) return create(args, context, info);
    // Also where no record names a known person: some have a name without an account.
    context.personalReads.requireAllowed();
    const observed = { ...info, selection: withProperties(selection, personal) };
    const resolve = create(args, context, observed);
    return async (source) => {
      const result = await resolve(source);
      // The total of a page behind the last one is about the people of the first.
      const isBehind = isOfPeople && (args.offset || args.cursor) && toRecords(result).length === 0;
      const first = { ...args, offset: 0, cursor: null };
      const records = toRecords(isBehind ? await create(first, context, observed)(source) : result);
      for (const record of records.filter(Boolean) as object[]) {
        const builderId = findBuilderId(record);
        for (const person of personal.findPeople(record)) context.personalReads.add(person, category, builderId);
        if (personal.namesOthers(record))
          context.personalReads.addRecord((record as { id: string }).id, category, builderId);
      }
      return result;
    };
  };
}

function withProperties(selection: Selection | null, { properties }: PersonalType): Selection | null {
  if (!selection || properties.length === 0) return selection;
  return { ...selection, paths: new Set([...selection.paths, ...properties]), key: `${selection.key} ${properties}` };
}

/** Returns a query or mutation with its action, which the pipeline requires. An error of the input names the field. */
function toRootField({ action, resolve, maxRecords }: ConsoleOperation, isMutation: boolean) {
  const root: Resolve = async (source, args, context, info) => {
    // What the mutation before it has read may have changed.
    if (isMutation) context.loaders.reset();
    const run = async () => resolve(source, args, context, info);
    try {
      // Transactions and reads of builders' records are charged where they run.
      return await (isMutation || action === READ_RECORDS ? run() : runInShare(context, run));
    } catch (error) {
      throw error instanceof InvalidInputError ? invalidField(error.field, error.problem) : error;
    }
  };
  const field = toEdge(root);
  return { ...field, extensions: { ...field.extensions, action, maxRecords } };
}

const toEdge = (resolve: Resolve) => ({
  resolve,
  extensions: { resolved: true, edge: { createResolver: toResolverFactory(resolve as never) } },
});

/** Returns the builder of a record; null where it was not read. */
const findBuilderId = (record: object): string | null =>
  Object.hasOwn(record, 'builderId') ? (record as { builderId: string }).builderId : null;
