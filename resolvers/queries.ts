import { type ClassType, Ctx, Query, Resolver } from 'type-graphql';
import { createPageType, PageArgs } from '../schema/page.ts';
import { getTypeScope, type Rest } from '../schema/rest.ts';
import { BuilderId, SubcontractorId } from '../schema/scalars.ts';
import { Selected, type Selection } from '../schema/selection.ts';
import { requireVisible } from '../src/auth/authorization.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import type { Where } from '../src/database/read/filter.ts';
import type { Reader } from '../src/database/read/reader.ts';
import { subcontractorOwners } from '../src/domain/readers/subcontractor.reader.ts';
import { requireFound } from '../src/domain/require-found.ts';
import { notFound } from '../src/shared/errors.ts';
import { decorateMethod, type FieldArguments, type FilterOptions, toArguments, toParameters } from './edges.ts';

/*
 * Queries of the records of a reader. The pipeline authorizes those of a builder by their argument `builderId`. Paths of a subcontractor's
 * records have no builder id, so the records are read before access is checked: each row has its builder, and only a response without rows
 * needs a query of the subcontractor. The readers return no rows of an archived subcontractor.
 */

interface QueryOptions<Filter extends string> extends FilterOptions<Filter> {
  /** `Rest`, or `Scoped` for a query of GraphQL alone. */
  operation: ReturnType<typeof Rest>;
}

interface OwnedRecord {
  builderId: string;
}

/** Declares a query: a page of the records of a builder. Returns a resolver class for the registry. */
export const builderPage = <Row extends object, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  description: string,
  { args = [], where = (values) => values, operation }: QueryOptions<Filter>,
) =>
  declareQuery(
    field,
    { type: createPageType(reader.entity as ClassType<Row>), description, operation },
    { required: { builderId: BuilderId }, args: [...args, PageArgs] },
    ({ database }, { builderId, ...values }, page, selection) =>
      reader.select(selection).findPage(database, { builderId, ...where(values) } as Where<Filter>, page),
  );

/**
 * Declares a query: one record of a builder. Returns a resolver class for the registry.
 *
 * @param key type of the argument with the id of the record, by name
 * @param texts name of the type, for the message of 404, and description
 */
export const builderRecord = <Row extends object, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  key: Record<string, typeof BuilderId>,
  [name, description]: readonly [string, string],
  { args = [], where = (values) => values, operation }: QueryOptions<Filter>,
) =>
  declareQuery(
    field,
    { type: reader.entity, description, operation },
    { required: { builderId: BuilderId, ...key }, args },
    ({ database }, { builderId, [Object.keys(key)[0]!]: id, ...values }) =>
      requireFound(reader.findOne(database, id as string, { builderId, ...where(values) } as Where<Filter>), name),
  );

/** Declares a query: a page of the records of a subcontractor. Throws 404 if the caller may not see it, and 403 without the scope. */
export const subcontractorPage = <Row extends OwnedRecord, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  description: string,
  { args = [], where = (values) => values, operation }: QueryOptions<Filter>,
) =>
  declareQuery(
    field,
    { type: createPageType(reader.entity as ClassType<Row>), description, operation },
    { required: { id: SubcontractorId }, args: [...args, PageArgs] },
    async (context, { id, ...values }, page, selection) => {
      const filters = { subcontractorId: id, ...where(values) } as Where<Filter>;
      const found = await reader.select(selection).findPage(context.database, filters, page);
      requireVisibleRecord(context, reader, found.data[0] ?? (await findOwner(context, id)), 'Subcontractor');
      return found;
    },
  );

/** Declares a query: one record of a subcontractor. Throws 404 if there is none or the caller may not see it, and 403 without the scope. */
export const subcontractorRecord = <Row extends OwnedRecord, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  key: Record<string, typeof BuilderId>,
  [name, description]: readonly [string, string],
  { operation }: QueryOptions<Filter>,
) =>
  declareQuery(
    field,
    { type: reader.entity, description, operation },
    { required: { id: SubcontractorId, ...key }, args: [] },
    async (context, { id: subcontractorId, [Object.keys(key)[0]!]: id }) => {
      const record = await reader.findOne(context.database, id as string, { subcontractorId } as Where<Filter>);
      const found = record ?? (await findOwner(context, subcontractorId));
      requireVisibleRecord(context, reader, found, record ? name : 'Subcontractor');
      return record ?? Promise.reject(notFound(name));
    },
  );

const findOwner = ({ database }: RequestContext, id: unknown) => subcontractorOwners.findOne(database, id as string);

const requireVisibleRecord = (
  context: RequestContext,
  { entity }: { entity: unknown },
  record: OwnedRecord | null,
  name: string,
) => requireVisible(context, record, getTypeScope(entity as ClassType<object>), name);

type Run = (
  context: RequestContext,
  values: Record<string, unknown>,
  page: PageArgs,
  selection: Selection | null,
) => Promise<unknown>;

function declareQuery(
  field: string,
  { type, description, operation }: { type: unknown; description: string; operation: ReturnType<typeof Rest> },
  { required, args }: { required: Record<string, typeof BuilderId>; args: FieldArguments[] },
  run: Run,
): ClassType<object> {
  const parameters = [...toParameters(required, false), ...args.flatMap((each) => toParameters(each))];
  const filters = args.at(-1) === PageArgs ? parameters.slice(0, -1) : parameters;
  class DeclaredQuery {
    [field](context: RequestContext, selection: Selection | null, ...values: object[]) {
      return run(context, toArguments(filters, values), values.at(-1) as PageArgs, selection);
    }
  }
  const decorators = [Ctx(), Selected(), ...parameters.map(({ decorator }) => decorator)];
  decorateMethod(DeclaredQuery, field, decorators, [
    operation,
    Query(() => type as ClassType<object>, { description }),
  ]);
  Resolver()(DeclaredQuery);
  return DeclaredQuery;
}
