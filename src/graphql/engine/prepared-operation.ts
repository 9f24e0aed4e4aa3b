import type { DocumentNode, GraphQLSchema, OperationDefinitionNode } from 'graphql';
import { compileOperation } from './compile-operation.ts';
import { estimateCost, type OperationEstimate } from './cost.ts';
import { type CompiledOperation, conditionVariables } from './execution.ts';
import { listRootFields, type SelectedField, withDefaults } from './root-fields.ts';

type Values = Readonly<Record<string, unknown>>;

/** An operation of a validated document, with what its executions share. */
export class PreparedOperation {
  /** Number of root fields, whatever `@skip` and `@include` leave out. */
  readonly rootCount: number;
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

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.#schema = schema;
    this.#document = document;
    this.#operation = operation;
    this.#defaults = withDefaults(operation, {});
    this.rootCount = listRootFields(schema, document, operation).length;
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
