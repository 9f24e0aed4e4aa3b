import {
  type ArgumentNode,
  type DocumentNode,
  type FieldNode,
  type FragmentDefinitionNode,
  type GraphQLField,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isAbstractType,
  isListType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  SchemaMetaFieldDef,
  type SelectionNode,
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../../schema/scalars.ts';
import { SLOW_READ_COST } from '../../limits/response-meter.ts';
import { withDefaults } from './root-fields.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Cost of an operation, and the records that it may read. A page counts as a full one. */
export interface Estimate {
  cost: number;
  records: number;
}

export interface OperationEstimate extends Estimate {
  /** Whether it does not depend on the variables. */
  isConstant: boolean;
}

/** Assumed number of records of a list without pages. */
const LIST_RECORDS = MAX_LIMIT;
/** Assumed number of items of a list of an introspected type, except for the list of all types. */
const INTROSPECTED_ITEMS = 4;

/**
 * Upper estimate of an operation before it executes. Its cost is, for each selected field of a record, the records that it may be selected
 * of: those of a full page, and a fragment wherever it is spread. Objects and lists that a record holds count once. A list by its changes
 * costs as much as a slow read in addition, and a field with `extensions.cost` so much.
 */
export function estimateCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): OperationEstimate {
  const estimator = new CostEstimator(schema, document, operation, variables);
  const estimate = estimator.estimate();
  return { ...estimate, isConstant: !estimator.usedVariables };
}

class CostEstimator {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #root: GraphQLNamedType | null;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: Variables;
  /** Estimate of a fragment for one parent, by its name and the records of the page that it is spread in. */
  readonly #estimates = new Map<string, Estimate>();
  /** Whether the estimate depends on variables. */
  usedVariables = false;

  constructor(
    schema: GraphQLSchema,
    { definitions }: DocumentNode,
    operation: OperationDefinitionNode,
    variables: Variables,
  ) {
    this.#schema = schema;
    this.#operation = operation;
    this.#root = schema.getRootType(operation.operation) ?? null;
    this.#fragments = new Map(
      definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
    );
    this.#variables = withDefaults(operation, variables);
  }

  estimate(): Estimate {
    return this.#estimateSelections(this.#root, this.#operation.selectionSet, 1);
  }

  /**
   * @param type is null where the document names a field or type that does not exist.
   * @param pageRecords Maximum records of the page when `type` is a page envelope, else 1.
   */
  #estimateSelections(type: GraphQLNamedType | null, { selections }: SelectionSetNode, pageRecords: number): Estimate {
    const sum = { cost: 0, records: 0 };
    for (const selection of selections) {
      const { cost, records } = this.#estimateSelection(type, selection, pageRecords);
      sum.cost += cost;
      sum.records += records;
    }
    return sum;
  }

  #estimateSelection(type: GraphQLNamedType | null, selection: SelectionNode, pageRecords: number): Estimate {
    if (selection.kind === Kind.FIELD) return this.#estimateField(type, selection, pageRecords);
    if (selection.kind === Kind.FRAGMENT_SPREAD) return this.#estimateFragment(selection.name.value, pageRecords);
    const { typeCondition, selectionSet } = selection;
    const condition = typeCondition ? (this.#schema.getType(typeCondition.name.value) ?? null) : type;
    return this.#estimateSelections(condition, selectionSet, pageRecords);
  }

  #estimateFragment(name: string, pageRecords: number): Estimate {
    const key = `${name} ${pageRecords}`;
    const cached = this.#estimates.get(key);
    if (cached) return cached;
    const fragment = this.#fragments.get(name);
    const none = { cost: 0, records: 0 };
    // A fragment that spreads itself is rejected by another rule.
    this.#estimates.set(key, none);
    const type = fragment && this.#schema.getType(fragment.typeCondition.name.value);
    const estimate = fragment ? this.#estimateSelections(type ?? null, fragment.selectionSet, pageRecords) : none;
    this.#estimates.set(key, estimate);
    return estimate;
  }

  #estimateField(parent: GraphQLNamedType | null, node: FieldNode, pageRecords: number): Estimate {
    const field = node.selectionSet && this.#findField(parent, node.name.value);
    if (!field) return { cost: 1, records: 0 };
    const type = getNamedType(field.type);
    const inPage = Boolean(parent!.extensions.envelope);
    // The `meta` of a page.
    if (inPage && !isListType(getNullableType(field.type))) return { cost: 0, records: 0 };
    const isPage = Boolean(type.extensions.envelope);
    const limit = this.#findLimit(field, node);
    const size = limit ?? LIST_RECORDS;
    const count = isPage ? 1 : this.#countRecords(field, parent!, type, limit ?? pageRecords);
    const inner = this.#estimateSelections(type, node.selectionSet!, isPage ? size : 1);
    const own = inPage || parent === this.#root ? 0 : 1;
    const byChanges = this.#findValue(node, isUpdatedSince) == null ? 0 : SLOW_READ_COST;
    const read = (field.extensions.cost as number | undefined) ?? byChanges;
    // The records of a page are counted where it is read, whatever is selected of it.
    const ownRecords = isPage ? Math.max(size, MAX_LIMIT) : Number(!inPage && type.extensions.scope !== undefined);
    // JSON has no number for a product without a bound.
    const atMost = (value: number) => Math.min(value, Number.MAX_SAFE_INTEGER);
    return { cost: atMost(own + read + count * inner.cost), records: atMost(count * (ownRecords + inner.records)) };
  }

  #findField(parent: GraphQLNamedType | null, name: string): GraphQLField<unknown, unknown> | undefined {
    if (name === SchemaMetaFieldDef.name) return SchemaMetaFieldDef;
    if (name === TypeMetaFieldDef.name) return TypeMetaFieldDef;
    return isObjectType(parent) ? parent.getFields()[name] : undefined;
  }

  /** @param pageRecords Maximum records of the list where it is a page's or has a limit of its own. */
  #countRecords(
    field: GraphQLField<unknown, unknown>,
    parent: GraphQLNamedType,
    type: GraphQLNamedType,
    pageRecords: number,
  ): number {
    if (!isListType(getNullableType(field.type))) return 1;
    if (type.name.startsWith('__')) {
      return field.name === 'types' ? Object.keys(this.#schema.getTypeMap()).length : INTROSPECTED_ITEMS;
    }
    if (parent.extensions.envelope || field.args.some(isLimit)) return pageRecords;
    if (field.extensions.maxRecords) return field.extensions.maxRecords as number;
    return type.extensions.scope === undefined || isAbstractType(type) ? 1 : LIST_RECORDS;
  }

  /** Returns the maximum number of records that a field requests; null for a field without a limit. */
  #findLimit(field: GraphQLField<unknown, unknown>, node: FieldNode): number | null {
    const argument = field.args.find(isLimit);
    if (!argument) return null;
    const limit = this.#findValue(node, isNamedLimit);
    const schema = getNamedType(argument.type).extensions.jsonSchema as
      | { default?: number; maximum?: number }
      | undefined;
    // An object of a variable may have no text.
    const requested = typeof limit === 'object' ? Number.NaN : Number(limit);
    const hasLimit = Number.isInteger(requested) && requested > 0;
    // The resolver of a limit without a maximum of its own rejects one that is too high.
    const { default: byDefault = DEFAULT_LIMIT, maximum = Number.MAX_SAFE_INTEGER } = schema ?? {};
    return hasLimit ? Math.min(requested, maximum) : ((argument.defaultValue as number | undefined) ?? byDefault);
  }

  /** Returns the value of an argument of a leaf type; null or undefined where none is given. */
  #findValue({ arguments: args = [] }: FieldNode, isArgument: (argument: ArgumentNode) => boolean): unknown {
    const value = args.find(isArgument)?.value;
    if (value?.kind === Kind.VARIABLE) {
      this.usedVariables = true;
      return this.#variables[value.name.value];
    }
    return value && 'value' in value ? value.value : null;
  }
}

const isLimit = ({ name }: { name: string }) => name === 'limit';
const isNamedLimit = ({ name }: ArgumentNode) => name.value === 'limit';
const isUpdatedSince = ({ name }: ArgumentNode) => name.value === 'updatedSince';
