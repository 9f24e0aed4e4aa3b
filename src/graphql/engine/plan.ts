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
import { type Selection, toSelection } from '../../../schema/selection.ts';
import type { ResponseMeter } from '../../limits/response-meter.ts';
import { type EdgeArguments, splitArguments } from './arguments.ts';

export type Fragments = Record<string, FragmentDefinitionNode>;
type Variables = Record<string, unknown>;
type Fields = Map<string, readonly FieldNode[]>;
type Field = GraphQLField<unknown, unknown>;

/** A field of an operation: `Type.field`, for error messages, and the nodes that select it. */
interface FieldOccurrence {
  name: string;
  nodes: readonly FieldNode[];
}

/** An occurrence, in an operation, of a field that a method resolves: also of a root field. */
export interface Edge {
  /** Index of the edge's `CompiledField` and `ParentBatch`. */
  index: number;
  /** Response key: the alias, or the name of the field. */
  key: string;
  field: Field;
  nodes: readonly FieldNode[];
  /** Properties that the operation reads of the edge's records; null for all. */
  selection: Selection | null;
  /** Null where graphql-js has to find them in each execution. */
  arguments: EdgeArguments | null;
  /** Edges of the resolved records. Each has edges of its own. */
  edges: Edge[];
}

/** The compiled functions of an edge. */
export interface CompiledField {
  /**
   * Returns the response value of a resolved value, and counts it with the meter. Adds the parents of the edges in it to their batches.
   * Throws for null where the schema has a non-null type, and where the meter's limits are exceeded.
   */
  complete: (value: unknown, batches: ParentBatch[], meter: ResponseMeter) => unknown;
  /** The same for one item of a list of objects; undefined where the list is completed as a whole. */
  completeItem?: CompiledField['complete'];
  /** Assigns the response value to the response key of a parent. */
  assign: (target: object, completed: unknown) => void;
}

/** Parent values of an edge and, by index, the response objects to fill. */
export interface ParentBatch {
  sources: unknown[];
  targets: object[];
}

/** How an operation is executed, for given values of its `@skip` and `@include` conditions. */
export interface Plan {
  /** Creates the response data, with null for every root field. */
  createData: (value: undefined, batches: ParentBatch[], meter: ResponseMeter) => Record<string, unknown>;
  roots: Edge[];
  /** By index of the edge. */
  compiledFields: CompiledField[];
}

/** @param variables used only for the `@skip` and `@include` conditions. */
export function createPlan(
  schema: GraphQLSchema,
  operation: OperationDefinitionNode,
  fragments: Fragments,
  variables: Variables,
): Plan {
  return new PlanCompiler(schema, operation, fragments, variables).compile();
}

/** Returns the name of the union member that a value belongs to. */
export type MemberName = (value: unknown) => string;

const toNamedParameter = (memberName: MemberName, index: number): [string, MemberName] => [
  `memberName${index}`,
  memberName,
];

function rejectNull(name: string): never {
  throw new Error(`${name} is null, but its type is non-null.`);
}

function rejectNoList(name: string): never {
  throw new Error(`${name} is not an array, but its type is a list.`);
}

/** Code that handles null: an error for a non-null type, else the end of the function. */
const nullCheck = (type: GraphQLOutputType, name: string) =>
  `if (value == null) ${isNonNullType(type) ? `rejectNull('${name}')` : 'return null'};`;

/** Bytes of quotes, colon and comma around a field's name. */
const PUNCTUATION = 4;
const NULL_SIZE = 4;
/** Estimated bytes of a number, a boolean or an enum value. */
const SHORT_LEAF = 12;
const SHORT_SCALARS = new Set(['Int', 'Float', 'Boolean']);

/** Bytes of a leaf: a number, or a JavaScript expression that computes it. */
function sizeOfLeaf(type: GraphQLNullableType, value: string): string | number {
  const isShort = isEnumType(type) || SHORT_SCALARS.has((type as GraphQLNamedType).name);
  return isShort
    ? SHORT_LEAF
    : `(${value} === null ? ${NULL_SIZE} : typeof ${value} === 'string' && ${value}.length < 256 ? ${value}.length : meter.sizeOf(${value}))`;
}

/** Whether the type has rows of its own, as opposed to an object that is part of a record. */
const isRecord = ({ extensions }: GraphQLObjectType) => extensions.scope !== undefined;

/**
 * Compiles an operation to JavaScript functions, one object literal for each response object: ten times as fast as assigning
 * properties by names from a list. The generated code contains names of the operation only: letters, digits and underscores.
 *
 * Leaf values are not serialized: our scalars serialize values to themselves, each enum value is its name, and resolvers return values
 * of the right type for GraphQL's own scalars (`test/graphql/leaf-values.test.ts`).
 */
class PlanCompiler {
  readonly #schema: GraphQLSchema;
  readonly #fragments: Fragments;
  readonly #variables: Variables;
  readonly #operation: OperationDefinitionNode;
  readonly #functions: string[] = [];
  /** Code of each edge's `CompiledField`. */
  readonly #compiledFields: string[] = [];
  readonly #memberNames: MemberName[] = [];
  /** Receives the edges of the object that is being compiled. */
  #edges: Edge[] = [];

  constructor(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments, variables: Variables) {
    this.#schema = schema;
    this.#operation = operation;
    this.#fragments = fragments;
    this.#variables = variables;
  }

  compile(): Plan {
    const { operation, selectionSet } = this.#operation;
    const type = this.#schema.getRootType(operation)!;
    const fields = collectFields(this.#schema, this.#fragments, this.#variables, type, selectionSet);
    const createData = this.#compileFields(type, fields);
    const source = `${this.#functions.join('\n')}\nreturn { createData: ${createData}, compiledFields: [${this.#compiledFields.join()}] };`;
    const parameters = {
      rejectNull,
      rejectNoList,
      ...Object.fromEntries(this.#memberNames.map(toNamedParameter)),
    };
    const compile = new Function(...Object.keys(parameters), source);
    const compiled: Pick<Plan, 'createData' | 'compiledFields'> = compile(...Object.values(parameters));
    return { ...compiled, roots: this.#edges };
  }

  /** Adds a function to the code and returns its name. */
  #addFunction(body: string): string {
    const name = `complete${this.#functions.length}`;
    this.#functions.push(`function ${name}(value, batches, meter) { ${body} }`);
    return name;
  }

  /** Returns an expression that completes a value. */
  #completion(type: GraphQLOutputType, occurrence: FieldOccurrence, value: string): string {
    if (isLeafType(type)) return `${value} ?? null`;
    if (isNonNullType(type) && isLeafType(type.ofType)) return `${value} ?? rejectNull('${occurrence.name}')`;
    return `${this.#compileType(type, occurrence)}(${value}, batches, meter)`;
  }

  /** Returns the name of a function that completes values of a type. */
  #compileType(type: GraphQLOutputType, occurrence: FieldOccurrence): string {
    const { name, nodes } = occurrence;
    const inner = isNonNullType(type) ? type.ofType : type;
    const check = nullCheck(type, name);
    if (isLeafType(inner)) return this.#addFunction(`${check} meter.bytes += meter.sizeOf(value); return value;`);
    if (isListType(inner)) return this.#compileList(type, occurrence);
    if (isUnionType(inner)) return this.#compileUnion(inner, occurrence, check);
    return this.#addFunction(
      `${check} return ${this.#compileObject(inner as GraphQLObjectType, nodes)}(value, batches, meter);`,
    );
  }

  /** @param completeItem name of the function that completes an item. */
  #compileList(type: GraphQLOutputType, occurrence: FieldOccurrence, completeItem?: string): string {
    const { ofType } = getNullableType(type) as GraphQLList<GraphQLOutputType>;
    const item = completeItem ? `${completeItem}(item, batches, meter)` : this.#completion(ofType, occurrence, 'item');
    const count = isLeafType(getNullableType(ofType)) ? 'meter.bytes += meter.sizeOf(item)' : 'meter.check()';
    const { name } = occurrence;
    return this.#addFunction(`${nullCheck(type, name)} if (!Array.isArray(value)) rejectNoList('${name}');
      const completed = [];
      for (const item of value) { completed.push(${item}); ${count}; }
      return completed;`);
  }

  /** Compiles one function for each member of the union. */
  #compileUnion(type: GraphQLUnionType, { name, nodes }: FieldOccurrence, check: string): string {
    const members = type.getTypes().map((member) => `${member.name}: ${this.#compileObject(member, nodes)}`);
    const memberName = `memberName${this.#memberNames.push(type.extensions.memberName as MemberName) - 1}`;
    const table = `members${this.#functions.length}`;
    this.#functions.push(`const ${table} = { ${members.join(', ')} };`);
    return this.#addFunction(
      `${check} return (${table}[${memberName}(value)] ?? rejectNull('${name}'))(value, batches, meter);`,
    );
  }

  #compileObject(type: GraphQLObjectType, nodes: readonly FieldNode[]): string {
    return this.#compileFields(type, collectSubfields(this.#schema, this.#fragments, this.#variables, type, nodes));
  }

  #compileFields(type: GraphQLObjectType, fields: Fields): string {
    const properties: string[] = [];
    const statements: string[] = [];
    const sizes: (string | number)[] = [];
    for (const [key, nodes] of fields) {
      const name = nodes[0]!.name.value;
      const field = type.getFields()[name];
      const occurrence = { name: `${type.name}.${name}`, nodes };
      sizes.push(key.length + PUNCTUATION);
      if (!field) {
        // `__typename` is the only compiled field that no type declares.
        properties.push(`${key}: '${type.name}'`);
        sizes.push(type.name.length);
      } else if (field.extensions.edge) {
        const index = this.#compileEdge(key, field, occurrence);
        properties.push(`${key}: null`);
        statements.push(`batches[${index}].sources.push(value); batches[${index}].targets.push(object);`);
      } else {
        properties.push(`${key}: ${this.#completion(field.type, occurrence, `value.${name}`)}`);
        if (isLeafType(getNullableType(field.type)))
          sizes.push(sizeOfLeaf(getNullableType(field.type), `object.${key}`));
      }
    }
    const constant = sizes.reduce<number>((sum, size) => sum + (typeof size === 'number' ? size : 0), 0);
    const bytes = [constant, ...sizes.filter((size) => typeof size === 'string')].join(' + ');
    // Fields of an object that is part of a record are counted with the record.
    if (isRecord(type)) statements.push(`meter.fields += ${fields.size};`);
    return this.#addFunction(
      `const object = { ${properties.join(', ')} }; meter.bytes += ${bytes}; ${statements.join(' ')} return object;`,
    );
  }

  /** Returns the index of the edge. */
  #compileEdge(key: string, field: Field, occurrence: FieldOccurrence): number {
    const { nodes } = occurrence;
    const siblings = this.#edges;
    this.#edges = [];
    const index = this.#compiledFields.push('') - 1;
    const selection = toSelection({ fieldNodes: [...nodes], returnType: field.type, fragments: this.#fragments });
    const list = getNullableType(field.type);
    const completeItem =
      isListType(list) && isCompositeType(getNullableType(list.ofType))
        ? this.#compileType(list.ofType, occurrence)
        : undefined;
    const complete = completeItem
      ? this.#compileList(field.type, occurrence, completeItem)
      : this.#compileType(field.type, occurrence);
    const assign = `(target, completed) => { target.${key} = completed; }`;
    this.#compiledFields[index] = `{ complete: ${complete}, completeItem: ${completeItem}, assign: ${assign} }`;
    const parsed = splitArguments(field, nodes[0]!, this.#operation);
    siblings.push({ index, key, field, nodes, selection, arguments: parsed, edges: this.#edges });
    this.#edges = siblings;
    return index;
  }
}
