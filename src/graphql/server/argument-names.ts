import { type ASTNode, type DocumentNode, Kind, visit } from 'graphql';

/** An argument's name, then the fields and list items inside it. */
type ArgumentPath = readonly (string | number)[];

interface ArgumentPaths {
  /** Of values, and of the objects that contain object fields. Those in the default of a variable begin where the variable is used. */
  nodes: ReadonlyMap<ASTNode, ArgumentPath>;
  /** Of the first use of each variable. */
  variables: ReadonlyMap<string, ArgumentPath>;
}

const pathsOfDocuments = new WeakMap<DocumentNode, ArgumentPaths>();

/** Returns the paths of a document's values. They are computed once, when the first of them is invalid. */
export function findArgumentPaths(document: DocumentNode): ArgumentPaths {
  const known = pathsOfDocuments.get(document);
  if (known) return known;
  const nodes = new Map<ASTNode, ArgumentPath>();
  const variables = new Map<string, ArgumentPath>();
  collectPaths(document, [], (node, path) => {
    nodes.set(node, path);
    const name = node.kind === Kind.VARIABLE ? node.name.value : null;
    if (name !== null && !variables.has(name)) variables.set(name, path);
  });
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    for (const { variable, defaultValue } of definition.variableDefinitions ?? []) {
      const name = variable.name.value;
      if (defaultValue)
        collectPaths(defaultValue, variables.get(name) ?? [name], (node, path) => nodes.set(node, path));
    }
  }
  const paths = { nodes, variables };
  pathsOfDocuments.set(document, paths);
  return paths;
}

/** Calls the function for each value inside an argument, or with a start inside a value. */
function collectPaths(root: ASTNode, start: ArgumentPath, add: (node: ASTNode, path: ArgumentPath) => void): void {
  const current = [...start];
  visit(root, {
    enter(node, key, _parent, path) {
      if (isItem(key, path)) current.push(key);
      if (node.kind === Kind.OBJECT_FIELD) add(node, [...current]);
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) current.push(node.name.value);
      else if (current.length > 0 && /Value$|^Variable$/.test(node.kind)) add(node, [...current]);
    },
    leave(node, key, _parent, path) {
      if (node.kind === Kind.ARGUMENT || node.kind === Kind.OBJECT_FIELD) current.pop();
      if (isItem(key, path)) current.pop();
    },
  });
}

/** Whether a node is an item of a list value. */
const isItem = (key: string | number | undefined, path: readonly (string | number)[]): key is number =>
  typeof key === 'number' && path.at(-2) === 'values';
