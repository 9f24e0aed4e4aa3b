import {
  type FieldNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  isObjectType,
  type SelectionNode,
} from 'graphql';
import { createParameterDecorator, Extensions } from 'type-graphql';

/** Properties that an operation reads of the records of a field. */
export interface Selection {
  /** Properties of a record, or of an object in it: `identifier`, `project.name`. */
  paths: ReadonlySet<string>;
  /** Whether it reads the total count of the list. */
  total: boolean;
  /** Equal for equal selections. */
  key: string;
}

/**
 * Declares the properties of the parent that a field's method uses, so that no others are read for it. The method's first parameter is a
 * `Pick` of them; TypeScript rejects a method that uses more. The id and the builder's id are always read.
 */
export function Reads<Property extends string>(...properties: Property[]) {
  // biome-ignore lint/suspicious/noExplicitAny: the type of a decorated method has to fit in both directions, as `any` does.
  type Method = (parent: Record<Property, any>, ...parameters: any[]) => any;
  return (target: object, name: string, method: TypedPropertyDescriptor<Method>): void => {
    Extensions({ reads: properties })(target, name, method);
  };
}

/** Selections of interpreted operations, by the nodes of the field, which graphql-js reuses for every parent. */
const interpretedSelections = new WeakMap<readonly FieldNode[], Selection | null>();

/** Returns what an operation reads of a field's records; null for all properties. Compiled operations provide it as `info.selection`. */
export function findSelection(info: object): Selection | null {
  const { selection, fieldNodes } = info as GraphQLResolveInfo & { selection?: Selection | null };
  if (selection !== undefined || !fieldNodes) return selection ?? null;
  let interpreted = interpretedSelections.get(fieldNodes);
  if (interpreted === undefined) {
    interpreted = toSelection(info as GraphQLResolveInfo);
    interpretedSelections.set(fieldNodes, interpreted);
  }
  return interpreted;
}

/** The resolver of parameters with `@Selected`. */
export const resolveSelected = ({ info }: { info: object }) => findSelection(info);

/** Injects the selection of a resolver's records into its method; null for all properties. */
export const Selected = () => createParameterDecorator(resolveSelected);

/** The resolver of parameters with `@AllArguments`. */
export const resolveArguments = ({ args }: { args: object }) => args;

/** Injects all arguments of the field by name, without those that are absent. The method takes no others: its later parameters only declare them. */
export const AllArguments = () => createParameterDecorator(resolveArguments);

/** Returns the type of a field's records, inside a list or an envelope. */
export function recordType(type: GraphQLOutputType): GraphQLNamedType {
  const named = getNamedType(type);
  return named.extensions.envelope ? getNamedType((named as GraphQLObjectType).getFields().data!.type) : named;
}

type Fragments = GraphQLResolveInfo['fragments'];
type FieldInfo = Pick<GraphQLResolveInfo, 'fieldNodes' | 'returnType' | 'fragments'>;

/** Returns the selection of a field's records; null where all properties have to be read. */
export function toSelection({ fieldNodes, returnType, fragments }: FieldInfo): Selection | null {
  const record = recordType(returnType);
  if (!isObjectType(record)) return null;
  const named = (name: string) => collectFields(fieldNodes, fragments).filter((node) => node.name.value === name);
  const inEnvelope = record !== getNamedType(returnType);
  const paths = collectPaths(record, inEnvelope ? named('data') : fieldNodes, fragments);
  if (!paths) return null;
  const total = inEnvelope && named('meta').length > 0;
  return { paths, total, key: [...paths].sort().join() + (total ? '#' : '') };
}

/** Returns null when the method of a field does not declare what it reads. */
function collectPaths(type: GraphQLObjectType, nodes: readonly FieldNode[], fragments: Fragments): Set<string> | null {
  const paths = new Set<string>();
  for (const node of collectFields(nodes, fragments)) {
    const field = type.getFields()[node.name.value];
    if (!field) continue;
    const reads = getReads(field);
    if (!reads) return null;
    const nested = getNamedType(field.type);
    const isEmbedded = reads.length === 1 && reads[0] === field.name && isObjectType(nested);
    const inner = isEmbedded ? collectPaths(nested, [node], fragments) : null;
    if (inner?.size) for (const path of inner) paths.add(`${field.name}.${path}`);
    else for (const property of reads) paths.add(property);
  }
  return paths;
}

/** Returns the properties of the parent that a field reads: the one of its name, unless a method resolves it. */
function getReads({ name, extensions }: GraphQLField<unknown, unknown>): readonly string[] | null {
  return (extensions.reads as string[] | undefined) ?? (extensions.resolved ? null : [name]);
}

/** Returns the selected fields with those of fragments, regardless of `@skip` and `@include`. */
function collectFields(
  nodes: readonly { selectionSet?: FieldNode['selectionSet'] }[],
  fragments: Fragments,
): FieldNode[] {
  const flat = (node: SelectionNode): FieldNode[] => {
    if (node.kind === 'Field') return [node];
    return collectFields([node.kind === 'FragmentSpread' ? fragments[node.name.value]! : node], fragments);
  };
  return nodes.flatMap((node) => node.selectionSet?.selections.flatMap(flat) ?? []);
}
