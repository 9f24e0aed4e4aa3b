import {
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLList,
  type GraphQLNamedType,
  type GraphQLNullableType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  type GraphQLUnionType,
  getNullableType,
  isCompositeType,
  isEnumType,
  isLeafType,
  isListType,
  isNonNullType,
  isUnionType,
  type OperationDefinitionNode,
} from 'graphql';
import { collectFields, collectSubfields } from 'graphql/execution/collectFields.js';
import { type Selection, selectionOf } from '../../../schema/selection.ts';
import { jsonSize, type ResponseMeter } from '../../shared/response-meter.ts';

export type Fragments = Record<string, FragmentDefinitionNode>;
type Variables = Record<string, unknown>;
type Fields = Map<string, readonly FieldNode[]>;
type Field = GraphQLField<unknown, unknown>;

/** A field of an operation: its name for people, and all that is written of it. */
interface Place {
  name: string;
  nodes: readonly FieldNode[];
}

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
  /** The edges right below. */
  edges: Edge[];
}

/** What is written for an edge. */
export interface Written {
  /**
   * The answer of a resolved value, counted by the meter. Notes the parents of the edges in it; throws where nothing is and the schema
   * promises something, and where the meter's limits are exceeded.
   */
  make: (value: unknown, parents: Parents[], meter: ResponseMeter) => unknown;
  /** The same for an item, of a field whose items are completed one by one; undefined where the list has to be made as a whole. */
  makeItem?: Written['make'];
  /** Puts what was made into the answer of a parent. */
  put: (target: object, made: unknown) => void;
}

/** What an edge begins at: values, and the answer of each. */
export interface Parents {
  sources: unknown[];
  targets: object[];
}

/** How an operation is answered, once its conditions are decided. */
export interface Plan {
  /** Makes the answer, with null for every root field. */
  begin: (value: undefined, parents: Parents[], meter: ResponseMeter) => Record<string, unknown>;
  roots: Edge[];
  /** What is written for each edge, by its number. */
  written: Written[];
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

/** The name of the member type of a union that a value is of. */
export type MemberName = (value: unknown) => string;

const numbered = (memberName: MemberName, index: number): [string, MemberName] => [`memberName${index}`, memberName];

function present(value: unknown, name: string): unknown {
  if (value == null) throw new Error(`${name} is nothing, and the schema promises something.`);
  return value;
}

function list(value: unknown, name: string): unknown[] {
  if (!Array.isArray(value)) throw new Error(`${name} is no array, and the schema promises a list.`);
  return value;
}

/** Code that ends where there is no value. */
const knownValue = (type: GraphQLOutputType, name: string) =>
  isNonNullType(type) ? `present(value, '${name}');` : 'if (value == null) return null;';

/** Bytes of quotes, colon and comma around a field's name. */
const PUNCTUATION = 4;
/** Bytes of a number, a boolean or a name of an enum, at most but for long numbers. */
const SHORT_LEAF = 12;
const SHORT_SCALARS = new Set(['Int', 'Float', 'Boolean']);

/** Bytes of a leaf: a number, or an expression of it. */
function sizeOfLeaf(type: GraphQLNullableType, value: string): string | number {
  const isShort = isEnumType(type) || SHORT_SCALARS.has((type as GraphQLNamedType).name);
  return isShort
    ? SHORT_LEAF
    : `(typeof ${value} === 'string' && ${value}.length < 256 ? ${value}.length : jsonSize(${value}))`;
}

/** Whether the type is that of a record, an envelope or a root, and not of a part of a record. */
const isRecord = ({ extensions }: GraphQLObjectType) => extensions.scope !== undefined;

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
  /** Code of what is written for each edge. */
  readonly #written: string[] = [];
  readonly #memberNames: MemberName[] = [];
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
    const source = `${this.#functions.join('\n')}\nreturn { begin: ${begin}, written: [${this.#written.join()}] };`;
    const given = { present, list, jsonSize, ...Object.fromEntries(this.#memberNames.map(numbered)) };
    const made: Pick<Plan, 'begin' | 'written'> = new Function(...Object.keys(given), source)(...Object.values(given));
    return { ...made, roots: this.#below };
  }

  /** Name of a function. */
  #write(body: string): string {
    const name = `make${this.#functions.length}`;
    this.#functions.push(`function ${name}(value, parents, meter) { ${body} }`);
    return name;
  }

  /** An expression of what the value becomes. */
  #made(type: GraphQLOutputType, place: Place, value: string): string {
    if (isLeafType(type)) return `${value} ?? null`;
    if (isNonNullType(type) && isLeafType(type.ofType)) return `present(${value}, '${place.name}')`;
    return `${this.#maker(type, place)}(${value}, parents, meter)`;
  }

  /** Name of a function that makes the answer of a value. */
  #maker(type: GraphQLOutputType, place: Place): string {
    const { name, nodes } = place;
    const inner = isNonNullType(type) ? type.ofType : type;
    const known = knownValue(type, name);
    if (isLeafType(inner)) return this.#write(`${known} meter.bytes += jsonSize(value); return value;`);
    if (isListType(inner)) return this.#listMaker(type, place);
    if (isUnionType(inner)) return this.#union(inner, place, known);
    return this.#write(`${known} return ${this.#objectAt(inner as GraphQLObjectType, nodes)}(value, parents, meter);`);
  }

  /** @param makeItem name of the function that makes an item. */
  #listMaker(type: GraphQLOutputType, place: Place, makeItem?: string): string {
    const { ofType } = getNullableType(type) as GraphQLList<GraphQLOutputType>;
    const item = makeItem ? `${makeItem}(item, parents, meter)` : this.#made(ofType, place, 'item');
    const count = isLeafType(getNullableType(ofType)) ? 'meter.bytes += jsonSize(item)' : 'meter.check()';
    return this.#write(`${knownValue(type, place.name)} const made = [];
      for (const item of list(value, '${place.name}')) { made.push(${item}); ${count}; }
      return made;`);
  }

  /** One function for each member of the union. */
  #union(type: GraphQLUnionType, { name, nodes }: Place, known: string): string {
    const members = type.getTypes().map((member) => `${member.name}: ${this.#objectAt(member, nodes)}`);
    const memberName = `memberName${this.#memberNames.push(type.extensions.memberName as MemberName) - 1}`;
    const table = `members${this.#functions.length}`;
    this.#functions.push(`const ${table} = { ${members.join(', ')} };`);
    return this.#write(`${known} return present(${table}[${memberName}(value)], '${name}')(value, parents, meter);`);
  }

  #objectAt(type: GraphQLObjectType, nodes: readonly FieldNode[]): string {
    return this.#object(type, collectSubfields(this.#schema, this.#fragments, this.#variables, type, nodes));
  }

  #object(type: GraphQLObjectType, fields: Fields): string {
    const properties: string[] = [];
    const notes: string[] = [];
    const sizes: (string | number)[] = [];
    for (const [key, nodes] of fields) {
      const name = nodes[0]!.name.value;
      const field = type.getFields()[name];
      const place = { name: `${type.name}.${name}`, nodes };
      sizes.push(key.length + PUNCTUATION);
      if (!field) {
        // Of the fields that no type declares, `__typename` alone is compiled.
        properties.push(`${key}: '${type.name}'`);
        sizes.push(type.name.length);
      } else if (field.extensions.edge) {
        const at = this.#edge(key, field, place);
        properties.push(`${key}: null`);
        notes.push(`parents[${at}].sources.push(value); parents[${at}].targets.push(made);`);
      } else {
        properties.push(`${key}: ${this.#made(field.type, place, `value.${name}`)}`);
        if (isLeafType(getNullableType(field.type))) sizes.push(sizeOfLeaf(getNullableType(field.type), `made.${key}`));
      }
    }
    const constant = sizes.reduce<number>((sum, size) => sum + (typeof size === 'number' ? size : 0), 0);
    const counted = [constant, ...sizes.filter((size) => typeof size === 'string')].join(' + ');
    // What is held by a record is counted with it.
    if (isRecord(type)) notes.push(`meter.fields += ${fields.size};`);
    return this.#write(
      `const made = { ${properties.join(', ')} }; meter.bytes += ${counted}; ${notes.join(' ')} return made;`,
    );
  }

  #edge(key: string, field: Field, place: Place): number {
    const { nodes } = place;
    const beside = this.#below;
    this.#below = [];
    const at = this.#written.push('') - 1;
    const selection = selectionOf({ fieldNodes: [...nodes], returnType: field.type, fragments: this.#fragments });
    const list = getNullableType(field.type);
    const makeItem =
      isListType(list) && isCompositeType(getNullableType(list.ofType)) ? this.#maker(list.ofType, place) : undefined;
    const make = makeItem ? this.#listMaker(field.type, place, makeItem) : this.#maker(field.type, place);
    this.#written[at] = `{ make: ${make}, makeItem: ${makeItem}, put: (target, made) => { target.${key} = made; } }`;
    beside.push({ at, key, field, nodes, selection, edges: this.#below });
    this.#below = beside;
    return at;
  }
}
