import {
  type ASTNode,
  type ExecutionResult,
  type GraphQLSchema,
  getArgumentValues,
  isNonNullType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { TimeSlice } from '../../limits/time-slice.ts';
import { type CompiledField, createPlan, type Edge, type Fragments, type ParentBatch, type Plan } from './plan.ts';
import type { ExecutionContext, FieldEdge } from './resolver-factories.ts';

/** Most plans of an operation: one for each combination of values of its `@skip` and `@include` conditions. */
const MAX_PLANS = 16;
/** Maximum consecutive executions that graphql-js performs after a failure. */
const MAX_SKIPPED = 32;

type Variables = Record<string, unknown>;

/**
 * An operation that is executed level by level: a method resolves a field for all of its parents, and is awaited once for all. An
 * error of a single root field is returned with its path. For errors further down the paths are not kept: `execute` returns null, and
 * graphql-js executes the query from its beginning to report them.
 */
export class CompiledOperation {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #fragments: Fragments;
  /** Names of the variables of `@skip` and `@include`. */
  readonly #conditions: string[];
  readonly #plans = new Map<string, Plan>();
  readonly #maxPlans: number;
  /** Number of next executions that graphql-js performs, and its value after the last failure. It doubles with each failure. */
  #toSkip = 0;
  #lastSkipped = 0;

  /** @param maxPlans Maximum number of plans to keep; at most `MAX_PLANS` are kept in any case. */
  constructor(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments, maxPlans: number) {
    this.#schema = schema;
    this.#operation = operation;
    this.#fragments = fragments;
    this.#conditions = conditionVariables([operation, ...Object.values(fragments)]);
    this.#maxPlans = Math.min(maxPlans, MAX_PLANS);
  }

  /**
   * Returns null where graphql-js has to execute the operation because a field below the root failed. An operation that keeps failing
   * is not tried each time. Rejects where a mutation has been committed and its response cannot be built: it must not run again.
   *
   * @param variables coerced as GraphQL does.
   */
  async execute(context: ExecutionContext, variables: Variables): Promise<ExecutionResult | null> {
    if (this.#toSkip > 0) {
      this.#toSkip--;
      return null;
    }
    const plan = this.#planFor(variables);
    if (!plan) return null;
    try {
      const result = await new Execution(plan, context, variables).execute();
      this.#lastSkipped = 0;
      return result;
    } catch (error) {
      if (this.#operation.operation !== 'query' || context.meter.rejection) throw error;
      this.#lastSkipped = Math.min(Math.max(1, this.#lastSkipped * 2), MAX_SKIPPED);
      this.#toSkip = this.#lastSkipped;
      context.loaders.reset();
      return null;
    }
  }

  /** Returns null where a condition is null, or the operation has its most plans already. */
  #planFor(variables: Variables): Plan | null {
    const conditions = this.#conditions.map((name) => variables[name]);
    if (conditions.includes(null)) return null;
    const key = conditions.join();
    let plan = this.#plans.get(key);
    if (!plan) {
      if (this.#plans.size === this.#maxPlans) return null;
      plan = createPlan(this.#schema, this.#operation, this.#fragments, variables);
      this.#plans.set(key, plan);
    }
    return plan;
  }
}

/** One execution of a plan. */
class Execution {
  readonly #plan: Plan;
  readonly #context: ExecutionContext;
  readonly #variables: Variables;
  readonly #batches: ParentBatch[] = [];

  constructor(plan: Plan, context: ExecutionContext, variables: Variables) {
    this.#plan = plan;
    this.#context = context;
    this.#variables = variables;
    for (let index = 0; index < plan.compiledFields.length; index++) this.#batches.push({ sources: [], targets: [] });
  }

  async execute(): Promise<ExecutionResult> {
    const { createData, roots } = this.#plan;
    const data = createData(undefined, this.#batches, this.#context.meter);
    const [root] = roots;
    if (!root || roots.length > 1) {
      await this.#completeAll(roots);
      return { data };
    }
    let values: unknown[];
    try {
      values = await this.#resolve(root);
    } catch (error) {
      const located = locatedError(error, root.nodes, [root.key]);
      return { data: isNonNullType(root.field.type) ? null : data, errors: [located] };
    }
    const completed = this.#complete(root, values);
    if (completed) await completed;
    return { data };
  }

  /** Waits for all edges even when one fails, so that no read is still running when the operation is executed again. */
  async #completeAll(edges: readonly Edge[]): Promise<void> {
    const completed = edges.map(async (edge) => {
      if (this.#batches[edge.index]!.sources.length > 0) await this.#complete(edge, await this.#resolve(edge));
    });
    if (edges.length === 1) return completed[0];
    for (const outcome of await Promise.allSettled(completed)) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Assigns the completed values to the parents' response objects, then executes the edges below. */
  #complete({ index: edgeIndex, edges }: Edge, values: readonly unknown[]): Promise<void> | undefined {
    const { targets } = this.#batches[edgeIndex]!;
    const { complete, completeItem, assign } = this.#plan.compiledFields[edgeIndex]!;
    const { meter } = this.#context;
    if (completeItem) return this.#completeItems(edges, values, targets, { complete, completeItem, assign });
    for (let index = 0; index < values.length; index++) {
      assign(targets[index]!, complete(values[index], this.#batches, meter));
      meter.check();
    }
    return edges.length > 0 ? this.#completeAll(edges) : undefined;
  }

  /** The same for lists, which may be large: other requests are served between their items. */
  async #completeItems(
    edges: readonly Edge[],
    values: readonly unknown[],
    targets: readonly object[],
    { complete, completeItem, assign }: CompiledField,
  ): Promise<void> {
    const { meter } = this.#context;
    const slice = new TimeSlice();
    for (const [index, value] of values.entries()) {
      if (!Array.isArray(value)) {
        assign(targets[index]!, complete(value, this.#batches, meter));
        continue;
      }
      const items: unknown[] = [];
      assign(targets[index]!, items);
      for (const item of value) {
        items.push(completeItem!(item, this.#batches, meter));
        meter.check();
        if (slice.isOver) await slice.next();
      }
    }
    if (edges.length > 0) await this.#completeAll(edges);
  }

  /** Resolves the field for each of its parents. */
  async #resolve({ index, field, nodes, selection, arguments: parsed }: Edge): Promise<unknown[]> {
    const context = this.#context;
    const { createResolver, authorizeParent, authorizeResult } = field.extensions.edge as FieldEdge;
    const args = parsed ? { ...parsed.literals } : getArgumentValues(field, nodes[0]!, this.#variables);
    for (const [name, variable] of parsed?.variables ?? [])
      if (Object.hasOwn(this.#variables, variable)) args[name] = this.#variables[variable];
    const resolve = createResolver(args, context, { selection });
    const results: unknown[] = [];
    let values: unknown[] = results;
    try {
      let isAsync = false;
      for (const source of this.#batches[index]!.sources) {
        authorizeParent?.(source, context);
        const result = resolve(source);
        isAsync ||= typeof (result as PromiseLike<unknown> | null)?.then === 'function';
        results.push(result);
      }
      if (isAsync) values = results.length === 1 ? [await results[0]] : await Promise.all(results);
    } catch (error) {
      await Promise.allSettled(results);
      throw error;
    }
    if (authorizeResult) for (const value of values) authorizeResult(value, context);
    return values;
  }
}

/** Returns the names of the variables of `@skip` and `@include`. */
export function conditionVariables(definitions: readonly ASTNode[]): string[] {
  const names = new Set<string>();
  for (const definition of definitions) {
    visit(definition, {
      Directive: ({ arguments: directiveArguments = [] }) => {
        for (const { value } of directiveArguments) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
      },
    });
  }
  return [...names];
}
