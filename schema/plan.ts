import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  isLeafType,
  isListType,
  isNonNullType,
  type OperationDefinitionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { type Selection, selectionOf } from './selection.ts';

type Fragments = Record<string, FragmentDefinitionNode>;
type Variables = Record<string, unknown>;
type Fields = Map<string, readonly FieldNode[]>;
type Field = GraphQLField<unknown, unknown>;

/** A field that a method resolves, at one place of an operation. */
export interface Edge {
  /** Number of the edge, and of its parents. */
  at: number;
  /** Name in the answer. */
  key: string;
  field: Field;
  nodes: readonly FieldNode[];
  /** What is read of the records that it leads to. */
  selection: Selection | null;
  /** The answer that a resolved value becomes; throws where there is nothing and the schema promises something. */
  make: Make;
  put: (target: object, made: unknown) => void;
  /** The edges right below. */
  edges: Edge[];
}

/** Makes the answer of a value, and notes the parents of the edges in it. */
type Make = (value: unknown, parents: Parents[]) => unknown;

/** What an edge begins at: values, and the answer of each. */
export interface Parents {
  sources: unknown[];
  targets: object[];
}

/** How an operation is answered, once its conditions are decided. */
export interface Plan {
  /** Makes the answer, with null for every root field. */
  begin: (value: undefined, parents: Parents[]) => Record<string, unknown>;
  roots: Edge[];
  /** How many edges there are in all. */
  size: number;
}

/** @param variables decide which fields are skipped or included, and nothing else. */
export function planOf(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
): Plan {
  return new Planner(schema, fragments, variables).plan(operation);
}

function present(value: unknown): unknown {
  if (value == null) throw new Error('There is nothing where the schema promises something.');
  return value;
}

function list(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error('There is no array where the schema promises a list.');
  return value;
}

/**
 * Writes the functions that make an answer: one object literal for each object of it, which is ten times as fast as to set properties
 * by names that are found in a list. All that it takes of an operation are names, which are letters, digits and underscores.
 *
 * What resolvers give is what is answered, as a leaf: our scalars print values as they are, each value of an enum is its name, and
 * what a field of GraphQL's own scalars gives is of its type (`test/plain-leaves.test.ts`).
 */
class Planner {
  readonly #schema: GraphQLSchema;
  readonly #fragments: Fragments;
  readonly #variables: Variables;
  readonly #functions: string[] = [];
  readonly #edges: { edge: Omit<Edge, 'make' | 'put'>; make: string }[] = [];
  /** Where edges are noted: those right below the one that is planned now. */
  #below: Edge[] = [];

  constructor(schema: GraphQLSchema, fragments: Fragments, variables: Variables) {
    this.#schema = schema;
    this.#fragments = fragments;
    this.#variables = variables;
  }

  plan({ operation, selectionSet }: OperationDefinitionNode): Plan {
    const type = this.#schema.getRootType(operation)!;
    const fields = collectFields(this.#schema, this.#fragments, this.#variables, type, selectionSet);
    const begin = this.#object(type, fields);
    const edges = this.#edges.map(({ edge: { key }, make }) => {
      return `{ make: ${make}, put: (target, made) => { target.${key} = made; } }`;
    });
    const source = `${this.#functions.join('\n')}\nreturn { begin: ${begin}, edges: [${edges.join()}] };`;
    const written = new Function('present', 'list', source)(present, list) as Pick<Plan, 'begin'> & {
      edges: Pick<Edge, 'make' | 'put'>[];
    };
    for (const { edge } of this.#edges) Object.assign(edge, written.edges[edge.at]);
    return { begin: written.begin, roots: this.#below, size: edges.length };
  }

  /** Name of a function. */
  #write(body: string): string {
    const name = `make${this.#functions.length}`;
    this.#functions.push(`function ${name}(value, parents) { ${body} }`);
    return name;
  }

  /** An expression of what the value becomes. */
  #made(type: GraphQLOutputType, nodes: readonly FieldNode[], value: string): string {
    if (isLeafType(type)) return `${value} ?? null`;
    if (isNonNullType(type) && isLeafType(type.ofType)) return `present(${value})`;
    return `${this.#maker(type, nodes)}(${value}, parents)`;
  }

  /** Name of a function that makes the answer of a value. */
  #maker(type: GraphQLOutputType, nodes: readonly FieldNode[]): string {
    const inner = isNonNullType(type) ? type.ofType : type;
    const known = isNonNullType(type) ? 'present(value);' : 'if (value == null) return null;';
    if (isLeafType(inner)) return this.#write(`${known} return value;`);
    if (isListType(inner)) {
      const item = this.#made(inner.ofType, nodes, 'item');
      return this.#write(`${known} const made = []; for (const item of list(value)) made.push(${item}); return made;`);
    }
    const object = inner as GraphQLObjectType;
    const fields = collectSubfields(this.#schema, this.#fragments, this.#variables, object, nodes);
    return this.#write(`${known} return ${this.#object(object, fields)}(value, parents);`);
  }

  #object(type: GraphQLObjectType, fields: Fields): string {
    const properties: string[] = [];
    const notes: string[] = [];
    for (const [key, nodes] of fields) {
      const name = nodes[0]!.name.value;
      const field = type.getFields()[name];
      if (!field) {
        properties.push(`${key}: '${type.name}'`);
      } else if (field.extensions.edge) {
        const at = this.#edge(key, field, nodes);
        properties.push(`${key}: null`);
        notes.push(`parents[${at}].sources.push(value); parents[${at}].targets.push(made);`);
      } else {
        properties.push(`${key}: ${this.#made(field.type, nodes, `value.${name}`)}`);
      }
    }
    return this.#write(`const made = { ${properties.join(', ')} }; ${notes.join(' ')} return made;`);
  }

  #edge(key: string, field: Field, nodes: readonly FieldNode[]): number {
    const beside = this.#below;
    this.#below = [];
    const at = this.#edges.length;
    const selection = selectionOf({ fieldNodes: [...nodes], returnType: field.type, fragments: this.#fragments });
    const edge = { at, key, field, nodes, selection, edges: this.#below };
    const entry = { edge, make: '' };
    this.#edges.push(entry);
    entry.make = this.#maker(field.type, nodes);
    this.#below = beside;
    this.#below.push(edge as unknown as Edge);
    return at;
  }
}
