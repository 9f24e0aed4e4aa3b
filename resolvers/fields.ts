import { Arg, Args, type ClassType, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Tracked } from '../entities/columns.ts';
import { createPageType, PageArgs, toPageWindow, WindowArgs } from '../schema/page.ts';
import { GraphOnly, getTypeScope, type Rest } from '../schema/rest.ts';
import { BuilderId, SubcontractorId } from '../schema/scalars.ts';
import { Reads, Selected, type Selection } from '../schema/selection.ts';
import { requireVisible } from '../src/auth/authorization.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import type { Where } from '../src/database/read/filter.ts';
import type { Reader } from '../src/database/read/reader.ts';
import { subcontractorOwners } from '../src/domain/readers/subcontractor.reader.ts';
import { requireFound } from '../src/domain/require-found.ts';
import { notFound } from '../src/shared/errors.ts';

/*
 * Fields of the schema that are declared as data: edges and queries. Edges are the fields that lead from one record to others. REST does
 * not have them. The scope of the records that an edge leads to is checked in `field-authorization.ts`.
 */

type GraphqlType = Parameters<typeof Arg>[1] extends infer F ? (F extends () => infer T ? T : never) : never;
/** Arguments of a field: a class of `@ArgsType`, or types by name, which are all nullable. */
type FieldArguments = ClassType<object> | Record<string, GraphqlType | DescribedType>;

/** Type of an argument that has a description. */
export class DescribedType {
  constructor(
    readonly type: GraphqlType,
    readonly description: string,
  ) {}
}

interface FilterOptions<Filter extends string> {
  /** Arguments beside those of the page: the schema has the last one first. */
  args?: FieldArguments[];
  /** Filters for the values of the arguments. Default: each argument is the filter of its name. */
  // biome-ignore lint/suspicious/noExplicitAny: the values of the arguments, whose types the schema has checked.
  where?: (args: any) => Where<NoInfer<Filter>>;
}

/**
 * Declares a field of `parent`: a page of the records that belong to it. Returns a resolver class for the registry.
 *
 * @param by filter whose value is the parent's id
 */
export function pageEdge<Row extends object, Filter extends string>(
  parent: ClassType<{ id: string }>,
  field: string,
  reader: Reader<Row, Filter>,
  by: NoInfer<Filter>,
  description: string,
  { args = [], where }: FilterOptions<Filter> = {},
): ClassType<object> {
  const parameters = args.flatMap((each) => toParameters(each));
  class PageEdge {
    [field]({ id }: { id: string }, { loaders }: RequestContext, selection: Selection | null, ...values: object[]) {
      const given = toArguments(parameters, values) as Where<Filter>;
      const filters = where ? where(given) : given;
      return loaders.loadPage(reader.select(selection), by, id, filters, toPageWindow(values.at(-1)!));
    }
  }
  const type = createPageType(reader.entity as ClassType<Row>);
  const pageArgs = reader.entity.prototype instanceof Tracked ? PageArgs : WindowArgs;
  const decorators = [...parameters.map(({ decorator }) => decorator), Args(() => pageArgs)];
  declareEdge(PageEdge, parent, field, { description, type, nullable: false, reads: ['id'], decorators });
  return PageEdge;
}

/**
 * Declares a field of `parent`: the record whose id it holds. Returns a resolver class for the registry.
 *
 * @param key property of the parent with the id; the field is null where it is null
 * @param options.nullable whether the field may be null: its key may be, or the record may be archived
 */
export function recordEdge<Parent extends object, Row extends object>(
  parent: ClassType<Parent>,
  field: string,
  reader: Reader<Row, never> | Reader<Row, string>,
  key: keyof Parent & string,
  description: string,
  { nullable = false } = {},
): ClassType<object> {
  class RecordEdge {
    [field](source: Parent, { loaders }: RequestContext, selection: Selection | null) {
      const id = source[key] as string | null;
      return id === null ? null : loaders.load((reader as Reader<Row>).select(selection), id);
    }
  }
  const type = reader.entity as ClassType<Row>;
  declareEdge(RecordEdge, parent, field, { description, reads: [key], nullable, decorators: [], type });
  return RecordEdge;
}

interface Summary {
  id: string;
  builderId?: string;
  archivedAt?: string | null;
}

/**
 * Declares the field `details` of a summary: the whole record. Returns a resolver class for the registry.
 *
 * @param options.archivable whether the record may be archived; the field is null then
 */
export function summaryEdge<Row extends object>(
  parent: ClassType<Summary>,
  reader: Reader<Row, never> | Reader<Row, string>,
  description: string,
  { archivable = false } = {},
): ClassType<object> {
  class SummaryEdge {
    details(summary: Summary, { loaders }: RequestContext, selection: Selection | null) {
      if (archivable && summary.archivedAt) return null;
      return loaders.loadFromSummary((reader as Reader<Row>).select(selection), summary);
    }
  }
  const type = reader.entity as ClassType<Row>;
  const reads = ['id', 'builderId', ...(archivable ? ['archivedAt'] : [])];
  declareEdge(SummaryEdge, parent, 'details', { description, reads, nullable: archivable, decorators: [], type });
  return SummaryEdge;
}

/** Declares the field `url` of a document: signed when the document is in the storage, else the stored address. */
export function documentUrl(parent: ClassType<{ documentKey: string | null; url: string | null }>): ClassType<object> {
  @Resolver(() => parent)
  class DocumentUrl {
    @FieldResolver()
    @Reads('documentKey', 'url')
    url(@Root() { documentKey, url }: InstanceType<typeof parent>, @Ctx() { storage }: RequestContext): string | null {
      return documentKey ? storage.createDownloadUrl(documentKey) : url;
    }
  }
  return DocumentUrl;
}

type ParameterOfMethod = ReturnType<typeof Ctx>;

interface FieldParameter {
  /** Null for a class of arguments. */
  name: string | null;
  decorator: ParameterOfMethod;
}

function toParameters(args: FieldArguments, nullable = true): FieldParameter[] {
  if (typeof args === 'function') return [{ name: null, decorator: Args(() => args) }];
  return Object.entries(args).map(([name, given]) => {
    const { type, description } = given instanceof DescribedType ? given : { type: given, description: undefined };
    return { name, decorator: Arg(name, () => type, { nullable, description }) };
  });
}

/** Returns the values of the parameters by the names of the arguments. */
function toArguments(parameters: readonly FieldParameter[], values: readonly object[]) {
  const named: Record<string, unknown> = {};
  for (const [index, { name }] of parameters.entries()) {
    if (name === null) Object.assign(named, values[index]);
    else named[name] = values[index];
  }
  return named;
}

interface EdgeDeclaration {
  description: string;
  type: ClassType<object>;
  nullable: boolean;
  /** Properties of the parent that the method takes. */
  reads: string[];
  /** Of the parameters after parent, context and selection. */
  decorators: ParameterOfMethod[];
}

function declareEdge(
  edge: ClassType<object>,
  parent: ClassType<object>,
  field: string,
  { description, type, nullable, reads, decorators }: EdgeDeclaration,
): void {
  const fieldResolver = FieldResolver(() => type, { description, nullable });
  decorateMethod(
    edge,
    field,
    [Root(), Ctx(), Selected(), ...decorators],
    [Reads(...reads), GraphOnly(), fieldResolver],
  );
  Resolver(() => parent)(edge);
}

/** Applies type-graphql's decorators to the method, in the order in which TypeScript applies those that are written in a class. */
function decorateMethod(
  { prototype }: ClassType<object>,
  method: string,
  parameters: ParameterOfMethod[],
  decorators: unknown[],
): void {
  for (let index = parameters.length - 1; index >= 0; index--) parameters[index]!(prototype, method, index);
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method)!;
  for (const decorate of decorators as MethodDecorator[]) decorate(prototype, method, descriptor);
}

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
  { args = [], where, operation }: QueryOptions<Filter>,
) => {
  const query = { type: createPageType(reader.entity as ClassType<Row>), description, operation };
  const parameters = toQueryParameters({ builderId: BuilderId }, args);
  return declareQuery(field, query, [...parameters, PAGE], ({ database }, selection, ...values) => {
    const page = values.at(-1)!;
    // Without `toArguments`: `npm run proof -- request-path` limits the functions of a list.
    for (const [index, { name }] of parameters.entries())
      values[index] = name === null ? values[index]! : { [name]: values[index] };
    const { builderId, ...given } = Object.assign({}, ...values.slice(0, parameters.length));
    const filters = { builderId, ...(where ? where(given) : given) } as Where<Filter>;
    return reader.select(selection).findPage(database, filters, page);
  });
};

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
  { args = [], where, operation }: QueryOptions<Filter>,
) => {
  const parameters = toQueryParameters({ builderId: BuilderId, ...key }, args);
  const [idArgument] = Object.keys(key) as [string];
  return declareQuery(
    field,
    { type: reader.entity, description, operation },
    parameters,
    ({ database }, _, ...values) => {
      const { builderId, [idArgument]: id, ...given } = toArguments(parameters, values);
      const filters = { builderId, ...(where ? where(given) : given) } as Where<Filter>;
      return requireFound(reader.findOne(database, id as string, filters), name);
    },
  );
};

/** Declares a query: a page of the records of a subcontractor. Throws 404 if the caller may not see it, and 403 without the scope. */
export const subcontractorPage = <Row extends OwnedRecord, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  description: string,
  { args = [], where, operation }: QueryOptions<Filter>,
) => {
  const query = { type: createPageType(reader.entity as ClassType<Row>), description, operation };
  const parameters = toQueryParameters({ id: SubcontractorId }, args);
  return declareQuery(field, query, [...parameters, PAGE], async (context, selection, ...values) => {
    const { id, ...given } = toArguments(parameters, values);
    const filters = { subcontractorId: id, ...(where ? where(given) : given) } as Where<Filter>;
    const found = await reader.select(selection).findPage(context.database, filters, values.at(-1)!);
    requireVisibleRecord(context, reader, found.data[0] ?? (await findOwner(context, id)), 'Subcontractor');
    return found;
  });
};

/** Declares a query: one record of a subcontractor. Throws 404 if there is none or the caller may not see it, and 403 without the scope. */
export const subcontractorRecord = <Row extends OwnedRecord, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  key: Record<string, typeof BuilderId>,
  [name, description]: readonly [string, string],
  { operation }: QueryOptions<Filter>,
) => {
  const parameters = toQueryParameters({ id: SubcontractorId, ...key }, []);
  const [idArgument] = Object.keys(key) as [string];
  return declareQuery(
    field,
    { type: reader.entity, description, operation },
    parameters,
    async (context, _, ...values) => {
      const { id: subcontractorId, [idArgument]: id } = toArguments(parameters, values);
      const record = await reader.findOne(context.database, id as string, { subcontractorId } as Where<Filter>);
      const found = record ?? (await findOwner(context, subcontractorId));
      requireVisibleRecord(context, reader, found, record ? name : 'Subcontractor');
      return record ?? Promise.reject(notFound(name));
    },
  );
};

const findOwner = ({ database }: RequestContext, id: unknown) => subcontractorOwners.findOne(database, id as string);

const requireVisibleRecord = (
  context: RequestContext,
  { entity }: { entity: unknown },
  record: OwnedRecord | null,
  name: string,
) => requireVisible(context, record, getTypeScope(entity as ClassType<object>), name);

const toQueryParameters = (required: Record<string, typeof BuilderId>, args: FieldArguments[]): FieldParameter[] => [
  ...toParameters(required, false),
  ...args.flatMap((each) => toParameters(each)),
];

/** The last parameter of a page. */
const PAGE: FieldParameter = { name: null, decorator: Args(() => PageArgs) };

function declareQuery(
  field: string,
  { type, description, operation }: { type: unknown; description: string; operation: ReturnType<typeof Rest> },
  parameters: FieldParameter[],
  method: (context: RequestContext, selection: Selection | null, ...values: object[]) => Promise<unknown>,
): ClassType<object> {
  class DeclaredQuery {}
  Object.defineProperty(DeclaredQuery.prototype, field, { value: method, configurable: true });
  const decorators = [Ctx(), Selected(), ...parameters.map(({ decorator }) => decorator)];
  decorateMethod(DeclaredQuery, field, decorators, [
    operation,
    Query(() => type as ClassType<object>, { description }),
  ]);
  Resolver()(DeclaredQuery);
  return DeclaredQuery;
}
