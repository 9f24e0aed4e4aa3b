import { type ASTNode, Kind, parse, type Source, visit } from 'graphql';

/** An argument's name, then the fields and list items inside it. */
type ArgumentPath = readonly (string | number)[];

/** Paths of the values and object fields in a document, by kind and position. */
type ArgumentPaths = ReadonlyMap<string, ArgumentPath>;

const pathsOfSource = new WeakMap<Source, ArgumentPaths>();

/**
 * Returns the path of a value, or of the object that contains an object field; null for other nodes. The paths of a document are computed
 * once, however many of its values are invalid.
 */
export function findArgumentPath(source: Source, node: ASTNode): ArgumentPath | null {
  let paths = pathsOfSource.get(source);
  if (!paths) {
    paths = computeArgumentPaths(source);
    pathsOfSource.set(source, paths);
  }
  return paths.get(toKey(node)) ?? null;
}

const toKey = ({ kind, loc }: ASTNode) => `${kind} ${loc?.start}`;

function computeArgumentPaths(source: Source): ArgumentPaths {
  const paths = new Map<string, ArgumentPath>();
  const current: (string | number)[] = [];
  visit(parse(source), {
    enter(node, key, _parent, path) {
      if (isItem(key, path)) current.push(key);
      if (node.kind === Kind.OBJECT_FIELD) paths.set(toKey(node), [...current]);
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) current.push(node.name.value);
      else if (current.length > 0 && node.kind.endsWith('Value')) paths.set(toKey(node), [...current]);
    },
    leave(node, key, _parent, path) {
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) current.pop();
      if (isItem(key, path)) current.pop();
    },
  });
  return paths;
}

/** Whether a node is an item of a list value. */
const isItem = (key: string | number | undefined, path: readonly (string | number)[]): key is number =>
  typeof key === 'number' && path.at(-2) === 'values';
