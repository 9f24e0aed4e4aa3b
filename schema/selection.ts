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

/** What a request reads of the records of one place of it. */
export interface Selection {
  /** Properties of a record, or of an object that it holds: `identifier`, `project.name`. */
  paths: ReadonlySet<string>;
  /** Whether it reads how many records there are in all. */
  total: boolean;
  /** The same for the same. */
  key: string;
}

/**
 * Of a method that resolves a field, the properties that it takes from its parent, so that no others need be read for it. Its first
 * parameter is a `Pick` of them, and TypeScript refuses a method that takes more. Whose a record is, is always read.
 */
export function Reads<Property extends string>(...properties: Property[]) {
  // biome-ignore lint/suspicious/noExplicitAny: the type of a decorated method has to fit in both directions, as `any` does.
  type Method = (parent: Record<Property, any>, ...parameters: any[]) => any;
  return (target: object, name: string, method: TypedPropertyDescriptor<Method>): void => {
    Extensions({ reads: properties })(target, name, method);
  };
}

/** Selections of interpreted operations: graphql-js gives the same nodes for every parent. */
const interpretedSelections = new WeakMap<readonly FieldNode[], Selection | null>();

/** Parameter of a resolver's method: what is read of the records that it answers with; null for all of them. */
export function Selected() {
  return createParameterDecorator(({ info }) => {
    // Compiled operations know it.
    const { selection, fieldNodes } = info as GraphQLResolveInfo & { selection?: Selection | null };
    if (selection !== undefined || !fieldNodes) return selection ?? null;
    let interpreted = interpretedSelections.get(fieldNodes);
    if (interpreted === undefined) {
      interpreted = selectionOf(info);
      interpretedSelections.set(fieldNodes, interpreted);
    }
    return interpreted;
  });
}

/** The records that a field leads to, out of their list or envelope. */
export function recordType(type: GraphQLOutputType): GraphQLNamedType {
  const named = getNamedType(type);
  return named.extensions.envelope ? getNamedType((named as GraphQLObjectType).getFields().data!.type) : named;
}

type Fragments = GraphQLResolveInfo['fragments'];
type Place = Pick<GraphQLResolveInfo, 'fieldNodes' | 'returnType' | 'fragments'>;

/** What a query reads of the records that a field leads to; null where only the whole of them is sure to be enough. */
export function selectionOf({ fieldNodes, returnType, fragments }: Place): Selection | null {
  const record = recordType(returnType);
  if (!isObjectType(record)) return null;
  const named = (name: string) => fieldsOf(fieldNodes, fragments).filter((node) => node.name.value === name);
  const inEnvelope = record !== getNamedType(returnType);
  const paths = pathsOf(record, inEnvelope ? named('data') : fieldNodes, fragments);
  if (!paths) return null;
  const total = inEnvelope && named('meta').length > 0;
  return { paths, total, key: [...paths].sort().join() + (total ? '#' : '') };
}

/** Null when a field does not tell what it reads. */
function pathsOf(type: GraphQLObjectType, nodes: readonly FieldNode[], fragments: Fragments): Set<string> | null {
  const paths = new Set<string>();
  for (const node of fieldsOf(nodes, fragments)) {
    const field = type.getFields()[node.name.value];
    if (!field) continue;
    const reads = readsOf(field);
    if (!reads) return null;
    const held = getNamedType(field.type);
    const isHeld = reads.length === 1 && reads[0] === field.name && isObjectType(held);
    const inner = isHeld ? pathsOf(held, [node], fragments) : null;
    if (inner?.size) for (const path of inner) paths.add(`${field.name}.${path}`);
    else for (const property of reads) paths.add(property);
  }
  return paths;
}

/** Properties of the parent that a field needs: its own, unless a method resolves it. */
function readsOf({ name, extensions }: GraphQLField<unknown, unknown>): readonly string[] | null {
  return (extensions.reads as string[] | undefined) ?? (extensions.resolved ? null : [name]);
}

/** The fields right below, those of fragments included, `@skip` and `@include` disregarded. */
function fieldsOf(nodes: readonly { selectionSet?: FieldNode['selectionSet'] }[], fragments: Fragments): FieldNode[] {
  const flat = (node: SelectionNode): FieldNode[] => {
    if (node.kind === 'Field') return [node];
    return fieldsOf([node.kind === 'FragmentSpread' ? fragments[node.name.value]! : node], fragments);
  };
  return nodes.flatMap((node) => node.selectionSet?.selections.flatMap(flat) ?? []);
}
