import type { GraphQLSchema } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import type { Context } from '../resolvers/context.ts';
import type { Selection } from './selection.ts';

type Args = Record<string, unknown>;
/** All that a method may know of the place where it is called: what is read of its answer. Null, or nothing, for all of it. */
interface Info {
  selection?: Selection | null;
}

/** A method made ready for what the parents of one place of an operation have in common. */
export type Begin = (args: Args, context: Context, info: Info) => (source: unknown) => unknown;
/** A field that a method resolves, and its guard; what many parents have in common is done once. */
export interface FieldEdge {
  begin: Begin;
  /** Throws unless the caller may go on from that record. */
  enter?: (source: unknown, context: Context) => void;
  /** Throws unless the caller may have what it leads to. */
  leave?: (value: unknown, context: Context) => void;
}

/** What a parameter is given: the parent, or what all parents have in common. */
type Take = typeof ROOT | ((args: Args, context: Context, info: Info) => unknown);
type Storage = ReturnType<typeof getMetadataStorage>;
type Handler = Omit<Storage['queries'][number], 'getReturnType' | 'returnTypeOptions'>;
type Parameter = NonNullable<Handler['params']>[number];

/**
 * The methods of the resolver classes as functions of what GraphQL calls them with, by type and field: `Query.builders`. The handlers
 * of type-graphql's own make a promise of each argument and an instance of each input object, for validation by classes; here
 * the types of the schema have validated all, and an edge of a dashboard is called a thousand times. What has a middleware,
 * roles, or a parameter that is none of these keeps the handler that it has; the schema is built without any that are for all.
 */
export function handlersOf(schema: GraphQLSchema): Map<string, Begin> {
  const storage = getMetadataStorage();
  const handlers = new Map<string, Begin>();
  const instances = new Map<Handler['target'], object>();
  const add = (type: string, handler: Handler) => {
    const takes = [...handler.params!].sort((one, other) => one.index - other.index).map((one) => taking(one, storage));
    if (handler.middlewares?.length || handler.roles || takes.includes(null)) return;
    let instance = instances.get(handler.target);
    if (!instance) {
      instance = new (handler.target as new () => object)();
      instances.set(handler.target, instance);
    }
    const method = instance[handler.methodName as keyof object] as (...values: unknown[]) => unknown;
    handlers.set(`${type}.${handler.schemaName}`, calling(method.bind(instance), takes as Take[]));
  };
  for (const handler of storage.queries) add(schema.getQueryType()!.name, handler);
  for (const handler of storage.mutations) add(schema.getMutationType()!.name, handler);
  for (const handler of storage.fieldResolvers) {
    // One of an entity's own method is bound to the record.
    if (handler.kind !== 'external') continue;
    const target = handler.getObjectType!();
    const type = storage.objectTypes.find((one) => one.target === target);
    if (type) add(type.name, handler);
  }
  return handlers;
}

/** Stands for the parent among what a method takes. */
const ROOT = Symbol('root');

const calling =
  (method: (...values: unknown[]) => unknown, takes: Take[]): Begin =>
  (args, context, info) => {
    const values = takes.map((take) => (take === ROOT ? undefined : take(args, context, info)));
    const at = takes.indexOf(ROOT);
    if (at < 0) return () => method(...values);
    return (source) => {
      // The call takes the values out of the list before anything else can happen.
      values[at] = source;
      return method(...values);
    };
  };

/** What a parameter of the method is; null where type-graphql has to say. */
function taking(parameter: Parameter, storage: Storage): Take | null {
  switch (parameter.kind) {
    case 'arg':
      return (args) => args[parameter.name];
    case 'args': {
      const names = argumentsOf(parameter.getType() as Handler['target'], storage);
      return (args) => pick(args, names);
    }
    case 'context':
      return parameter.propertyName === undefined ? (_args, context) => context : null;
    case 'custom': {
      const { resolver, options } = parameter;
      // Ours ask for the selection, which all parents have in common.
      return options.arg ? null : (args, context, info) => resolver({ root: undefined, args, context, info } as never);
    }
    case 'root':
      return parameter.propertyName === undefined ? ROOT : null;
    default:
      return null;
  }
}

/** Names of the arguments that a class stands for, those of the classes that it extends included. */
function argumentsOf(target: Handler['target'], storage: Storage): string[] {
  const names: string[] = [];
  for (let one = target; one.prototype !== undefined; one = Object.getPrototypeOf(one)) {
    const type = storage.argumentTypes.find(({ target }) => target === one);
    names.push(...(type?.fields?.map(({ name }) => name) ?? []));
  }
  return names;
}

/** An argument that was not given is not there. */
function pick(args: Record<string, unknown>, names: string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (args[name] !== undefined) picked[name] = args[name];
  return picked;
}
