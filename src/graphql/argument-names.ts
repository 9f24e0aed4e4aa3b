import { type ASTNode, Kind, parse, type Source, visit } from 'graphql';

/** Paths of the values in a document, by where each begins and what it is. */
type ValuePaths = ReadonlyMap<string, string>;

const pathsOfSource = new WeakMap<Source, ValuePaths>();

/**
 * Returns the name of the argument that a value of the document is given to, and the path inside it; null for no such value. A
 * document is read once, however many of its values are wrong.
 */
export function argumentPathOf(source: Source, value: ASTNode): string | null {
  let paths = pathsOfSource.get(source);
  if (!paths) {
    paths = valuePathsOf(source);
    pathsOfSource.set(source, paths);
  }
  return paths.get(keyOf(value)) ?? null;
}

const keyOf = ({ kind, loc }: ASTNode) => `${kind} ${loc?.start}`;

function valuePathsOf(source: Source): ValuePaths {
  const paths = new Map<string, string>();
  const names: string[] = [];
  visit(parse(source), {
    enter(node) {
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) names.push(node.name.value);
      if (names.length > 0 && isValue(node)) paths.set(keyOf(node), names.join('.'));
    },
    leave(node) {
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) names.pop();
    },
  });
  return paths;
}

/** Whether the node is written as a value; a variable is not. */
export const isValue = ({ kind }: ASTNode) => kind.endsWith('Value');
