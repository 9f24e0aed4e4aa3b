import type { GraphQLFieldResolver, GraphQLSchema } from 'graphql';
import { getMetadataStorage } from 'type-graphql';
import type { Context } from '../resolvers/context.ts';

type Resolve = GraphQLFieldResolver<unknown, Context>;
type Storage = ReturnType<typeof getMetadataStorage>;
type Handler = Omit<Storage['queries'][number], 'getReturnType' | 'returnTypeOptions'>;
type Parameter = NonNullable<Handler['params']>[number];

/**
 * The methods of the resolver classes as functions of what GraphQL calls them with, by type and field: `Query.builders`. The handlers
 * of type-graphql's own make a promise of each argument and an instance of each input object, for validation by classes; here
 * the types of the schema have validated all, and an edge of a dashboard is called a thousand times. What has a middleware,
 * roles, or a parameter that is none of these keeps the handler that it has; the schema is built without any that are for all.
 */
export function handlersOf(schema: GraphQLSchema): Map<string, Resolve> {
  const storage = getMetadataStorage();
  const handlers = new Map<string, Resolve>();
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
    handlers.set(`${type}.${handler.schemaName}`, calling(method.bind(instance), takes as Resolve[]));
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

const calling =
  (method: (...values: unknown[]) => unknown, takes: Resolve[]): Resolve =>
  (source, args, context, info) =>
    method(...takes.map((take) => take(source, args, context, info)));

/** What a parameter of the method is; null where type-graphql has to say. */
function taking(parameter: Parameter, storage: Storage): Resolve | null {
  switch (parameter.kind) {
    case 'arg':
      return (_source, args) => args[parameter.name];
    case 'args': {
      const names = argumentsOf(parameter.getType() as Handler['target'], storage);
      return (_source, args) => pick(args, names);
    }
    case 'context':
      return parameter.propertyName === undefined ? (_source, _args, context) => context : null;
    case 'custom': {
      const { resolver, options } = parameter;
      return options.arg ? null : (root, args, context, info) => resolver({ root, args, context, info });
    }
    case 'root':
      return parameter.propertyName === undefined ? (source) => source : null;
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
