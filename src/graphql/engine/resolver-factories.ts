import { type GraphQLFieldResolver, type GraphQLSchema, getNamedType, isLeafType } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import type { Scope } from '../../../schema/scopes.ts';
import { findSelection, resolveArguments, resolveSelected, type Selection } from '../../../schema/selection.ts';
import type { ResponseMeter } from '../../limits/response-meter.ts';

/** The part of the resolvers' context that the engine uses. */
export interface ExecutionContext {
  readonly meter: ResponseMeter;
  /** Reset before an operation that failed is executed again from its beginning. */
  readonly loaders: { reset(): void };
}

type Args = Record<string, unknown>;
/** What a resolver may know of the field it resolves. */
interface Info {
  /** What the operation reads of the field's records; null or undefined for all of them. */
  selection?: Selection | null;
}

/**
 * Returns a resolver with arguments, context and info bound. It is created once for a field of an operation and called once for each
 * parent.
 */
export type ResolverFactory<Context = ExecutionContext> = (
  args: Args,
  context: Context,
  info: Info,
) => (source: unknown) => unknown;

/** A field that a method resolves, with its authorization. */
export interface FieldEdge<Context = ExecutionContext> {
  createResolver: ResolverFactory<Context>;
  /** Scope that following the field requires. */
  scope?: Scope;
  /** Throws unless the caller may follow the field from that parent. */
  authorizeParent?: (source: unknown, context: Context) => void;
  /** Throws unless the caller may see the result. */
  authorizeResult?: (value: unknown, context: Context) => void;
}

/** Where the value of a method's parameter is from: an argument, an object of arguments, all arguments, or one of the others. */
type ParameterSource = { argument: string } | { names: string[] } | 'arguments' | 'context' | 'selection' | 'parent';
type Storage = ReturnType<typeof getMetadataStorage>;
type Handler = Omit<Storage['queries'][number], 'getReturnType' | 'returnTypeOptions'>;
type Parameter = NonNullable<Handler['params']>[number];

// biome-ignore lint/suspicious/noExplicitAny: the context is passed on as it is.
export function toResolverFactory(resolve: GraphQLFieldResolver<unknown, any>): ResolverFactory<any> {
  return (args, context, info) => (source) => resolve(source, args, context, info as never);
}

/**
 * Returns the resolver that graphql-js calls for an edge. It rejects and never throws: graphql-js would leave rejections of other fields, and
 * of a list's other items, unhandled.
 */
export const toFieldResolver =
  <Context extends ExecutionContext>({
    createResolver,
    authorizeParent,
    authorizeResult,
  }: FieldEdge<Context>): GraphQLFieldResolver<unknown, Context> =>
  async (source, args, context, info) => {
    authorizeParent?.(source, context);
    const result = await createResolver(args, context, info as object)(source);
    authorizeResult?.(result, context);
    if (isLeafType(getNamedType(info.returnType))) context.meter.bytes += context.meter.sizeOf(result);
    return result;
  };

/**
 * Returns a resolver factory for each method of the resolver classes, by type and field: `Query.builders`. type-graphql's own handlers
 * create a promise for each argument and an instance for each input object; the schema's types have validated all of these, and an edge
 * of a dashboard is resolved a thousand times. Methods with a middleware, roles or another kind of parameter are left to type-graphql.
 */
export function createResolverFactories(schema: GraphQLSchema): Map<string, ResolverFactory> {
  const storage = getMetadataStorage();
  const factories = new Map<string, ResolverFactory>();
  const instances = new Map<Handler['target'], object>();
  const add = (type: string, handler: Handler) => {
    const sources = [...handler.params!]
      .sort((one, other) => one.index - other.index)
      .map((one) => toSource(one, storage));
    if (handler.middlewares?.length || handler.roles || sources.includes(null)) return;
    let instance = instances.get(handler.target);
    if (!instance) {
      instance = new (handler.target as new () => object)();
      instances.set(handler.target, instance);
    }
    const method = instance[handler.methodName as keyof object] as (...values: unknown[]) => unknown;
    const taken = sources.includes('arguments') ? sources.filter((one) => typeof one === 'string') : sources;
    factories.set(`${type}.${handler.schemaName}`, createFactory(method.bind(instance), taken as ParameterSource[]));
  };
  for (const handler of storage.queries) add(schema.getQueryType()!.name, handler);
  for (const handler of storage.mutations) add(schema.getMutationType()!.name, handler);
  for (const handler of storage.fieldResolvers) {
    // Methods of an entity are bound to the record; type-graphql calls them.
    if (handler.kind !== 'external') continue;
    const target = handler.getObjectType!();
    const type = storage.objectTypes.find((one) => one.target === target);
    if (type) add(type.name, handler);
  }
  return factories;
}

const createFactory =
  (method: (...values: unknown[]) => unknown, sources: ParameterSource[]): ResolverFactory =>
  (args, context, info) => {
    const values: unknown[] = [];
    for (const source of sources) {
      if (source === 'context') values.push(context);
      else if (source === 'arguments') values.push(args);
      else if (source === 'selection') values.push(info.selection === undefined ? findSelection(info) : info.selection);
      // The parent is the only value that differs between calls.
      else if (source === 'parent') values.push(undefined);
      else values.push('names' in source ? pick(args, source.names) : args[source.argument]);
    }
    const at = sources.indexOf('parent');
    return (parent) => {
      // The list is reused: the call reads its values before anything else runs.
      if (at >= 0) values[at] = parent;
      return method(...values);
    };
  };

/** Returns the source of a parameter; null for a parameter that only type-graphql can resolve. */
function toSource(parameter: Parameter, storage: Storage): ParameterSource | null {
  switch (parameter.kind) {
    case 'arg':
      return { argument: parameter.name };
    case 'args':
      return { names: listArguments(parameter.getType() as Handler['target'], storage) };
    case 'context':
      return parameter.propertyName === undefined ? 'context' : null;
    case 'custom':
      if ((parameter.resolver as unknown) === resolveArguments) return 'arguments';
      return (parameter.resolver as unknown) === resolveSelected ? 'selection' : null;
    case 'root':
      return parameter.propertyName === undefined ? 'parent' : null;
    default:
      return null;
  }
}

/** Names of the arguments that an `@ArgsType` class declares, with those that it inherits. */
function listArguments(target: Handler['target'], storage: Storage): string[] {
  const names: string[] = [];
  for (let one = target; one.prototype !== undefined; one = Object.getPrototypeOf(one)) {
    const type = storage.argumentTypes.find(({ target }) => target === one);
    names.push(...(type?.fields?.map(({ name }) => name) ?? []));
  }
  return names;
}

/** Arguments by name, without those that are absent. */
function pick(args: Record<string, unknown>, names: string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (args[name] !== undefined) picked[name] = args[name];
  return picked;
}
