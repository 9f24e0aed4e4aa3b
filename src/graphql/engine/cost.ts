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
  type SelectionSetNode,
  TypeMetaFieldDef,
} from 'graphql';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../../schema/scalars.ts';
import { SLOW_READ_COST } from '../../shared/response-meter.ts';

type Variables = Readonly<Record<string, unknown>>;

/** Assumed number of records of a list without pages. */
const LIST_RECORDS = MAX_LIMIT;
/** Assumed number of items of a list of an introspected type, except for the list of all types. */
const INTROSPECTED_ITEMS = 4;

/**
 * Upper estimate of an operation's cost, before it executes: each selected field times the records that it may be selected of. A
 * page counts as full, a fragment wherever it is spread. Objects and lists that a record holds count once. A list by its changes costs as
 * much as a slow read in addition, and a field with `extensions.cost` so much.
 */
export function estimateCost(
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Variables,
): number {
  return new CostEstimator(schema, document, operation, variables).estimate();
}

/** Returns `estimateCost` for the schema with a cache: an operation is estimated only once when its estimate does not depend on variables. */
export function createCachedCostEstimate(schema: GraphQLSchema) {
  const estimates = new WeakMap<OperationDefinitionNode, number>();
  return (document: DocumentNode, operation: OperationDefinitionNode, variables: Variables): number => {
    const cached = estimates.get(operation);
    if (cached !== undefined) return cached;
    const estimator = new CostEstimator(schema, document, operation, variables);
    const estimate = estimator.estimate();
    if (!estimator.usedVariables) estimates.set(operation, estimate);
    return estimate;
  };
}

/** Default values of the variables, where they are leaves. */
function collectDefaults({ variableDefinitions = [] }: OperationDefinitionNode): Variables {
  return Object.fromEntries(
    variableDefinitions.flatMap(({ variable, defaultValue }) =>
      defaultValue && 'value' in defaultValue ? [[variable.name.value, defaultValue.value]] : [],
    ),
  );
}

class CostEstimator {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  readonly #variables: Variables;
  /** Cost of a fragment for one parent, by its name and the records of the page that it is spread in. */
  readonly #costs = new Map<string, number>();
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
    this.#fragments = new Map(
      definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
    );
    this.#variables = { ...collectDefaults(operation), ...variables };
  }

  estimate(): number {
    const root = this.#schema.getRootType(this.#operation.operation);
    return root ? this.#estimateSelections(root, this.#operation.selectionSet, 1) : 0;
  }

  /**
   * @param type is null where the document names a field or type that does not exist.
   * @param pageRecords Maximum records of the page when `type` is a page envelope, else 1.
   */
  #estimateSelections(type: GraphQLNamedType | null, { selections }: SelectionSetNode, pageRecords: number): number {
    let cost = 0;
    for (const selection of selections) {
      if (selection.kind === Kind.FIELD) {
        cost += this.#estimateField(type, selection, pageRecords);
      } else if (selection.kind === Kind.FRAGMENT_SPREAD) {
        cost += this.#estimateFragment(selection.name.value, pageRecords);
      } else {
        const { typeCondition, selectionSet } = selection;
        const condition = typeCondition ? (this.#schema.getType(typeCondition.name.value) ?? null) : type;
        cost += this.#estimateSelections(condition, selectionSet, pageRecords);
      }
    }
    return cost;
  }

  #estimateFragment(name: string, pageRecords: number): number {
    const key = `${name} ${pageRecords}`;
    const cachedCost = this.#costs.get(key);
    if (cachedCost !== undefined) return cachedCost;
    const fragment = this.#fragments.get(name);
    // A fragment that spreads itself is rejected by another rule.
    this.#costs.set(key, 0);
    const type = fragment && this.#schema.getType(fragment.typeCondition.name.value);
    const cost = fragment ? this.#estimateSelections(type ?? null, fragment.selectionSet, pageRecords) : 0;
    this.#costs.set(key, cost);
    return cost;
  }

  #estimateField(parent: GraphQLNamedType | null, node: FieldNode, pageRecords: number): number {
    if (!node.selectionSet) return 1;
    const field = this.#findField(parent, node.name.value);
    if (!field) return 1;
    const type = getNamedType(field.type);
    const isEnvelope = Boolean(type.extensions.envelope);
    const limit = this.#findLimit(field, node);
    const records = isEnvelope ? 1 : this.#countRecords(field, parent!, type, limit ?? pageRecords);
    const byChanges = this.#findValue(node, isUpdatedSince) == null ? 0 : SLOW_READ_COST;
    const read = (field.extensions.cost as number | undefined) ?? byChanges;
    return (
      1 + read + records * this.#estimateSelections(type, node.selectionSet, isEnvelope ? (limit ?? LIST_RECORDS) : 1)
    );
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
    const requested = Number(limit);
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
