import {
  type DocumentNode,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
} from 'graphql';
import { createRuleCheck, type RuleCheck } from '../../../schema/input-rules.ts';
import { findBrokenRules } from './arguments.ts';
import { compileOperation } from './compile-operation.ts';
import { estimateCost, type OperationEstimate } from './cost.ts';
import { type CompiledOperation, conditionVariables } from './execution.ts';
import { listRootFields, type SelectedField, withDefaults } from './root-fields.ts';

type Values = Readonly<Record<string, unknown>>;

/** A root field whose arguments may be invalid although the document and its variables are valid: by a rule, or by variables in an object. */
interface CheckedField extends SelectedField {
  checks: readonly { rules: RuleCheck | null }[];
}

function toCheckedField(root: SelectedField): CheckedField | null {
  const sent = root.node.arguments ?? [];
  const checks = root.field.args
    .map((argument) => ({ rules: createRuleCheck(argument.name, argument) }))
    .filter(({ rules }) => rules && (rules.ifSent === null || sent.some(({ name }) => name.value === rules.ifSent)));
  return checks.length > 0 || sent.some(({ value }) => value.kind === Kind.OBJECT) ? { ...root, checks } : null;
}

function hasValidArguments({ field, node, checks }: CheckedField, variables: Values, now: number): boolean {
  try {
    return findBrokenRules(checks, getArgumentValues(field, node, variables), now).length === 0;
  } catch {
    return false;
  }
}

/** An operation of a validated document, with what its executions share. */
export class PreparedOperation {
  /** Number of root fields, whatever `@skip` and `@include` leave out. */
  readonly rootCount: number;
  readonly #checked: readonly CheckedField[];
  readonly #hasValidLiterals: boolean;
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  readonly #operation: OperationDefinitionNode;
  readonly #defaults: Values;
  /** Null where variables decide which are left out. */
  readonly #roots: readonly SelectedField[] | null;
  /** Null before the first call, and where it depends on variables. */
  #estimate: OperationEstimate | null = null;
  #compiled: CompiledOperation | null | undefined;
  /** Cost of its past executions. Estimates count every page as full. */
  #observedCost: number | null = null;

  constructor(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    hasValidLiterals = true,
  ) {
    this.#hasValidLiterals = hasValidLiterals;
    this.#schema = schema;
    this.#document = document;
    this.#operation = operation;
    this.#defaults = withDefaults(operation, {});
    const roots = listRootFields(schema, document, operation);
    this.rootCount = roots.length;
    this.#checked = roots.flatMap((root) => toCheckedField(root) ?? []);
    const isConditional = conditionVariables(document.definitions).length > 0;
    this.#roots = isConditional ? null : listRootFields(schema, document, operation, {});
  }

  /** Compiled at the first call; null where graphql-js has to interpret it. */
  get compiled(): CompiledOperation | null {
    if (this.#compiled === undefined) this.#compiled = compileOperation(this.#schema, this.#document, this.#operation);
    return this.#compiled;
  }

  /** Returns the variables that were sent, with the declared defaults of the others. */
  withDefaults(variables: Values): Values {
    return { ...this.#defaults, ...variables };
  }

  /** @param variables with the defaults of those that were not sent. */
  listRootFields(variables: Values): readonly SelectedField[] {
    return this.#roots ?? listRootFields(this.#schema, this.#document, this.#operation, variables);
  }

  /** Returns the coerced variables; null where one is invalid, or a literal or an argument of a root field may be. */
  coerceVariables(variables: Values, roots: readonly SelectedField[], now: number): Record<string, unknown> | null {
    const { variableDefinitions = [] } = this.#operation;
    const { coerced } = getVariableValues(this.#schema, variableDefinitions, variables, { maxErrors: 1 });
    if (!coerced || !this.#hasValidLiterals) return null;
    for (const checked of this.#checked) {
      const isLeftOut = roots.every(({ node }) => node !== checked.node);
      if (!isLeftOut && !hasValidArguments(checked, coerced, now)) return null;
    }
    return coerced;
  }

  /** @param variables with the defaults of those that were not sent. */
  estimateCost(variables: Values): OperationEstimate {
    if (this.#estimate) return this.#estimate;
    const estimate = estimateCost(this.#schema, this.#document, this.#operation, variables);
    if (estimate.isConstant) this.#estimate = estimate;
    return estimate;
  }

  /** Returns the cost that an execution is charged before it begins: at most twice what was observed. */
  limitCharge(estimated: number): number {
    return this.#observedCost === null ? estimated : Math.min(estimated, 2 * this.#observedCost);
  }

  addObservedCost(cost: number): void {
    this.#observedCost = Math.max(cost, 0.9 * (this.#observedCost ?? 0));
  }
}
