import {
  type ASTNode,
  type ExecutionResult,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  isNonNullType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import { TimeSlice } from '../../shared/time-slice.ts';
import { type Edge, type Fragments, type Parents, type Plan, planOf, type Written } from './plan.ts';
import type { ExecutionContext, FieldEdge } from './resolver-factories.ts';

/** Ways of deciding an operation's conditions that are planned, at most. */
const MAX_PLANS = 16;
/** Times that an operation is left to graphql-js after it failed, at most. */
const MAX_PAUSE = 32;

type Variables = Record<string, unknown>;

/**
 * An operation that is answered level by level: a field that a method resolves is called for all its parents, and awaited once for
 * all. What goes wrong at the only root field is answered as it is. Below, nothing is kept of where an error belongs: graphql-js is to
 * execute the query from its beginning, and tells it.
 */
export class CompiledOperation {
  readonly #schema: GraphQLSchema;
  readonly #operation: OperationDefinitionNode;
  readonly #fragments: Fragments;
  /** Variables that decide whether a field is there. */
  readonly #conditions: string[];
  readonly #plans = new Map<string, Plan>();
  readonly #maxPlans: number;
  /** How often it is still to be left to graphql-js, and how often it was to be when it last failed. */
  #pause = 0;
  #lastPause = 0;

  /** @param plans ways of deciding its conditions that may be planned. */
  constructor(schema: GraphQLSchema, operation: OperationDefinitionNode, fragments: Fragments, plans: number) {
    this.#schema = schema;
    this.#operation = operation;
    this.#fragments = fragments;
    this.#conditions = conditionsOf([operation, ...Object.values(fragments)]);
    this.#maxPlans = Math.min(plans, MAX_PLANS);
  }

  /** The same as `answer`, where the variables are as the caller wrote them; null also where they are wrong. */
  async execute(context: ExecutionContext, inputs: Variables): Promise<ExecutionResult | null> {
    const { variableDefinitions = [] } = this.#operation;
    const { coerced } = getVariableValues(this.#schema, variableDefinitions, inputs, { maxErrors: 1 });
    return coerced ? this.answer(context, coerced) : null;
  }

  /**
   * Null where graphql-js has to execute it: something below the root field is wrong. What fails again and again is not tried each
   * time. Rejects where a mutation is done and its answer cannot be made: it must not be done once more.
   *
   * @param variables are of the types that the operation declares.
   */
  async answer(context: ExecutionContext, variables: Variables): Promise<ExecutionResult | null> {
    if (this.#pause > 0) {
      this.#pause--;
      return null;
    }
    const plan = this.#planFor(variables);
    if (!plan) return null;
    try {
      const answer = await new Execution(plan, context, variables).answer();
      this.#lastPause = 0;
      return answer;
    } catch (error) {
      if (this.#operation.operation !== 'query' || context.meter.rejection) throw error;
      this.#lastPause = Math.min(Math.max(1, this.#lastPause * 2), MAX_PAUSE);
      this.#pause = this.#lastPause;
      context.loaders.reset();
      return null;
    }
  }

  /** Null where a condition is neither true nor false, or there are too many ways of deciding them. */
  #planFor(variables: Variables): Plan | null {
    const decided = this.#conditions.map((name) => variables[name]);
    if (decided.includes(null)) return null;
    const key = decided.join();
    let plan = this.#plans.get(key);
    if (!plan) {
      if (this.#plans.size === this.#maxPlans) return null;
      plan = planOf(this.#schema, this.#operation, this.#fragments, variables);
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
  readonly #parents: Parents[];

  constructor(plan: Plan, context: ExecutionContext, variables: Variables) {
    this.#plan = plan;
    this.#context = context;
    this.#variables = variables;
    this.#parents = plan.written.map(() => ({ sources: [], targets: [] }));
  }

  async answer(): Promise<ExecutionResult> {
    const { begin, roots } = this.#plan;
    const data = begin(undefined, this.#parents, this.#context.meter);
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

  /** Waits for all of them, so that nothing is under way any more when one has failed. */
  async #completeAll(edges: readonly Edge[]): Promise<void> {
    const completed = edges.map(async (edge) => {
      if (this.#parents[edge.at]!.sources.length > 0) await this.#complete(edge, await this.#resolve(edge));
    });
    if (edges.length === 1) return completed[0];
    for (const outcome of await Promise.allSettled(completed)) if (outcome.status === 'rejected') throw outcome.reason;
  }

  /** Puts what the field is into the answers of its parents, and goes on below where there is anything. */
  #complete({ at, edges }: Edge, values: readonly unknown[]): Promise<void> | undefined {
    const { targets } = this.#parents[at]!;
    const { make, makeItem, put } = this.#plan.written[at]!;
    const { meter } = this.#context;
    if (makeItem) return this.#completeItems(edges, values, targets, { make, makeItem, put });
    for (let index = 0; index < values.length; index++) {
      put(targets[index]!, make(values[index], this.#parents, meter));
      meter.check();
    }
    return edges.length > 0 ? this.#completeAll(edges) : undefined;
  }

  /** The same for lists, which may be large: the event loop is left to other requests between their items. */
  async #completeItems(
    edges: readonly Edge[],
    values: readonly unknown[],
    targets: readonly object[],
    { make, makeItem, put }: Written,
  ): Promise<void> {
    const { meter } = this.#context;
    const slice = new TimeSlice();
    for (const [index, value] of values.entries()) {
      if (!Array.isArray(value)) {
        put(targets[index]!, make(value, this.#parents, meter));
        continue;
      }
      const items: unknown[] = [];
      put(targets[index]!, items);
      for (const item of value) {
        items.push(makeItem!(item, this.#parents, meter));
        meter.check();
        if (slice.isOver) await slice.next();
      }
    }
    if (edges.length > 0) await this.#completeAll(edges);
  }

  /** What the field is, for each of its parents. */
  async #resolve({ at, field, nodes, selection }: Edge): Promise<unknown[]> {
    const context = this.#context;
    const { createResolver, authorizeParent, authorizeResult } = field.extensions.edge as FieldEdge;
    const call = createResolver(getArgumentValues(field, nodes[0]!, this.#variables), context, { selection });
    const begun: unknown[] = [];
    let values: unknown[] = begun;
    try {
      let waits = false;
      for (const source of this.#parents[at]!.sources) {
        authorizeParent?.(source, context);
        const value = call(source);
        waits ||= isPromise(value);
        begun.push(value);
      }
      if (waits) values = begun.length === 1 ? [await begun[0]] : await Promise.all(begun);
    } catch (error) {
      await Promise.allSettled(begun);
      throw error;
    }
    if (authorizeResult) for (const value of values) authorizeResult(value, context);
    return values;
  }
}

const isPromise = (value: unknown) => typeof (value as PromiseLike<unknown> | null)?.then === 'function';

function conditionsOf(definitions: readonly ASTNode[]): string[] {
  const names = new Set<string>();
  for (const definition of definitions) {
    visit(definition, {
      Directive: ({ arguments: given = [] }) => {
        for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
      },
    });
  }
  return [...names];
}
