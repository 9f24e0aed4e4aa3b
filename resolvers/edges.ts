import { Arg, Args, type ClassType, Ctx, FieldResolver, Resolver, Root } from 'type-graphql';
import { Tracked } from '../entities/columns.ts';
import { createPageType, PageArgs, toPageWindow, WindowArgs } from '../schema/page.ts';
import { GraphOnly } from '../schema/rest.ts';
import { Reads, Selected, type Selection } from '../schema/selection.ts';
import type { RequestContext } from '../src/auth/request-context.ts';
import type { Where } from '../src/database/read/filter.ts';
import type { Reader } from '../src/database/read/reader.ts';

/*
 * Edges are the fields that lead from one record to others. REST does not have them. The scope of the records that an edge leads to is
 * checked in `field-authorization.ts`.
 */

type GraphqlType = Parameters<typeof Arg>[1] extends infer F ? (F extends () => infer T ? T : never) : never;
/** Arguments of a field: a class of `@ArgsType`, or types by name, which are all nullable. */
export type FieldArguments = ClassType<object> | Record<string, GraphqlType | DescribedType>;

/** Type of an argument that has a description. */
export class DescribedType {
  constructor(
    readonly type: GraphqlType,
    readonly description: string,
  ) {}
}

export interface FilterOptions<Filter extends string> {
  /** Arguments beside those of the page. */
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
  { args = [], where = (values) => values }: FilterOptions<Filter> = {},
): ClassType<object> {
  const parameters = args.flatMap((each) => toParameters(each));
  class PageEdge {
    [field]({ id }: { id: string }, { loaders }: RequestContext, selection: Selection | null, ...values: object[]) {
      return loaders.loadPage(
        reader.select(selection),
        by,
        id,
        where(toArguments(parameters, values)),
        toPageWindow(values.at(-1)!),
      );
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

type ParameterOfMethod = ReturnType<typeof Ctx>;

export interface FieldParameter {
  /** Null for a class of arguments. */
  name: string | null;
  decorator: ParameterOfMethod;
}

export function toParameters(args: FieldArguments, nullable = true): FieldParameter[] {
  if (typeof args === 'function') return [{ name: null, decorator: Args(() => args) }];
  return Object.entries(args).map(([name, given]) => {
    const { type, description } = given instanceof DescribedType ? given : { type: given, description: undefined };
    return { name, decorator: Arg(name, () => type, { nullable, description }) };
  });
}

/** Returns the values of the parameters by the names of the arguments. */
export function toArguments(parameters: readonly FieldParameter[], values: readonly object[]) {
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
export function decorateMethod(
  { prototype }: ClassType<object>,
  method: string,
  parameters: ParameterOfMethod[],
  decorators: unknown[],
): void {
  for (let index = parameters.length - 1; index >= 0; index--) parameters[index]!(prototype, method, index);
  const descriptor = Object.getOwnPropertyDescriptor(prototype, method)!;
  for (const decorate of decorators as MethodDecorator[]) decorate(prototype, method, descriptor);
}
