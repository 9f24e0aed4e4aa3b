import { Arg, Args, type ClassType, Ctx, FieldResolver, Query, Resolver, Root } from 'type-graphql';
import { Tracked } from '../entities/columns.ts';
import { createPageType, PageArgs, toPageWindow, WindowArgs } from '../schema/page.ts';
import { GraphOnly, getTypeScope, type Rest } from '../schema/rest.ts';
import { BuilderId, SubcontractorId } from '../schema/scalars.ts';
import { AllArguments, Reads, Selected, type Selection } from '../schema/selection.ts';
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
/** The arguments of a field that a request has. */
type Values = Record<string, unknown>;

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
  const type = createPageType(reader.entity as ClassType<Row>);
  const pageArgs = reader.entity.prototype instanceof Tracked ? PageArgs : WindowArgs;
  const declaration = { description, type, nullable: false, reads: ['id'], args: [...args, pageArgs] };
  return declareEdge(parent, field, declaration, ({ id }: { id: string }, values, { loaders }, selection) => {
    const { window, filters } = splitPage(values, where);
    return loaders.loadPage(reader.select(selection), by, id, filters as Where<Filter>, toPageWindow(window));
  });
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
  const declaration = { description, reads: [key], nullable, type: reader.entity as ClassType<Row> };
  return declareEdge(parent, field, declaration, (source: Parent, _, { loaders }, selection) => {
    const id = source[key] as string | null;
    return id === null ? null : loaders.load((reader as Reader<Row>).select(selection), id);
  });
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
  const reads = ['id', 'builderId', ...(archivable ? ['archivedAt'] : [])];
  const declaration = { description, reads, nullable: archivable, type: reader.entity as ClassType<Row> };
  return declareEdge(parent, 'details', declaration, (summary: Summary, _, { loaders }, selection) => {
    if (archivable && summary.archivedAt) return null;
    return loaders.loadFromSummary((reader as Reader<Row>).select(selection), summary);
  });
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

/** Returns the decorators of parameters that declare arguments. The schema has the last one first. */
const toParameters = (args: FieldArguments, nullable = true): ParameterOfMethod[] =>
  typeof args === 'function'
    ? [Args(() => args)]
    : Object.entries(args).map(([name, given]) => {
        const { type, description } = given instanceof DescribedType ? given : { type: given, description: undefined };
        return Arg(name, () => type, { nullable, description });
      });

/** Returns the arguments of a page apart from the filters for the others. */
export function splitPage(
  { offset, limit, cursor, order, updatedSince, ...others }: Values,
  where?: (args: Values) => object,
): { window: PageArgs; filters: Record<string, string | null> } {
  return {
    window: { offset, limit, cursor, order, updatedSince } as PageArgs,
    filters: (where ? where(others) : others) as Record<string, string | null>,
  };
}

interface EdgeDeclaration {
  description: string;
  type: ClassType<object>;
  nullable: boolean;
  /** Properties of the parent that the method takes. */
  reads: string[];
  args?: FieldArguments[];
}

function declareEdge<Parent extends object>(
  parent: ClassType<Parent>,
  field: string,
  { description, type, nullable, reads, args = [] }: EdgeDeclaration,
  resolve: (parent: Parent, values: Values, context: RequestContext, selection: Selection | null) => unknown,
): ClassType<object> {
  const parameters = [Root(), AllArguments(), Ctx(), Selected(), ...args.flatMap((each) => toParameters(each))];
  const fieldResolver = FieldResolver(() => type, { description, nullable });
  const edge = declareMethod(field, resolve, parameters, [Reads(...reads), GraphOnly(), fieldResolver]);
  Resolver(() => parent)(edge);
  return edge;
}

/** Returns a class with the method, with type-graphql's decorators in the order in which TypeScript applies those of a written class. */
function declareMethod(
  name: string,
  value: (...values: never[]) => unknown,
  parameters: ParameterOfMethod[],
  decorators: unknown[],
): ClassType<object> {
  class DeclaredField {}
  const { prototype } = DeclaredField;
  Object.defineProperty(prototype, name, { value, configurable: true });
  for (let index = parameters.length - 1; index >= 0; index--) parameters[index]!(prototype, name, index);
  const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
  for (const decorate of decorators as MethodDecorator[]) decorate(prototype, name, descriptor);
  return DeclaredField;
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

type Owned = { builderId: string };

/** Declares a query: a page of the records of a builder. Returns a resolver class for the registry. */
export const builderPage = <Row extends object, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  description: string,
  { args = [], where, operation }: QueryOptions<Filter>,
) => {
  const type = createPageType(reader.entity as ClassType<Row>);
  const declaration = { type, description, operation, required: { builderId: BuilderId }, args: [...args, PageArgs] };
  return declareQuery(field, declaration, ({ builderId, ...values }, { database }, selection) => {
    const { window, filters } = splitPage(values, where);
    return reader.select(selection).findPage(database, { builderId, ...filters } as Where<Filter>, window);
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
  const [idArgument] = Object.keys(key) as [string];
  const declaration = { type: reader.entity, description, operation, required: { builderId: BuilderId, ...key }, args };
  return declareQuery(field, declaration, ({ [idArgument]: id, ...values }, { database }) => {
    const { builderId, ...given } = values;
    const filters = { builderId, ...(where ? where(given) : given) } as Where<Filter>;
    return requireFound(reader.findOne(database, id as string, filters), name);
  });
};

/** Declares a query: a page of the records of a subcontractor. Throws 404 if the caller may not see it, and 403 without the scope. */
export const subcontractorPage = <Row extends Owned, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  description: string,
  { args = [], where, operation }: QueryOptions<Filter>,
) => {
  const type = createPageType(reader.entity as ClassType<Row>);
  const declaration = { type, description, operation, required: { id: SubcontractorId }, args: [...args, PageArgs] };
  return declareQuery(field, declaration, async ({ id, ...values }, context, selection) => {
    const { window, filters } = splitPage(values, where);
    const ofSubcontractor = { subcontractorId: id, ...filters } as Where<Filter>;
    const found = await reader.select(selection).findPage(context.database, ofSubcontractor, window);
    requireVisibleRecord(context, reader, found.data[0] ?? (await findOwner(context, id)), 'Subcontractor');
    return found;
  });
};

/** Declares a query: one record of a subcontractor. Throws 404 if there is none or the caller may not see it, and 403 without the scope. */
export const subcontractorRecord = <Row extends Owned, Filter extends string>(
  field: string,
  reader: Reader<Row, Filter>,
  key: Record<string, typeof BuilderId>,
  [name, description]: readonly [string, string],
  { operation }: QueryOptions<Filter>,
) => {
  const [idArgument] = Object.keys(key) as [string];
  const required = { id: SubcontractorId, ...key };
  const declaration = { type: reader.entity, description, operation, required, args: [] };
  return declareQuery(field, declaration, async ({ id: subcontractorId, [idArgument]: id }, context) => {
    const record = await reader.findOne(context.database, id as string, { subcontractorId } as Where<Filter>);
    const found = record ?? (await findOwner(context, subcontractorId));
    requireVisibleRecord(context, reader, found, record ? name : 'Subcontractor');
    return record ?? Promise.reject(notFound(name));
  });
};

const findOwner = ({ database }: RequestContext, id: unknown) => subcontractorOwners.findOne(database, id as string);

const requireVisibleRecord = (
  context: RequestContext,
  { entity }: { entity: unknown },
  record: Owned | null,
  name: string,
) => requireVisible(context, record, getTypeScope(entity as ClassType<object>), name);

export interface QueryDeclaration {
  description: string;
  type: unknown;
  operation: ReturnType<typeof Rest>;
  /** Types of the arguments that are not nullable, by name. */
  required: Record<string, typeof BuilderId>;
  args: FieldArguments[];
}

/** Declares a query. Returns a resolver class for the registry. */
export function declareQuery(
  field: string,
  { type, description, operation, required, args }: QueryDeclaration,
  resolve: (values: Values, context: RequestContext, selection: Selection | null) => Promise<unknown>,
): ClassType<object> {
  const declared = [...toParameters(required, false), ...args.flatMap((each) => toParameters(each))];
  const query = Query(() => type as ClassType<object>, { description });
  const resolver = declareMethod(field, resolve, [AllArguments(), Ctx(), Selected(), ...declared], [operation, query]);
  Resolver()(resolver);
  return resolver;
}
