import {
  type DocumentNode,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  type GraphQLSchema,
  getArgumentValues,
  getVariableValues,
  isNonNullType,
  Kind,
  locatedError,
  type OperationDefinitionNode,
  visit,
} from 'graphql';
import type { Context } from '../resolvers/context.ts';
import type { FieldEdge } from './handlers.ts';
import { type Edge, type Parents, type Plan, planOf } from './plan.ts';

/** Ways that the conditions of one operation are decided in; what is asked in yet another way is interpreted. */
const MAX_PLANS = 16;
/** As many errors of variables as graphql-js tells. */
const MAX_ERRORS = 50;

type Variables = Record<string, unknown>;

/**
 * An operation that is answered level by level: a field that a method resolves is called for all its parents, and awaited once for
 * all. What goes wrong at the only root field is answered as it is. Below, nothing is kept of where an error belongs: the query is
 * executed by graphql-js from its beginning, which tells it.
 */
export class CompiledOperation {
  readonly #schema: GraphQLSchema;
  readonly #document: DocumentNode;
  readonly #operation: OperationDefinitionNode;
  readonly #fragments: Record<string, FragmentDefinitionNode>;
  /** Variables that decide whether a field is there. */
  readonly #conditions: string[];
  readonly #plans = new Map<string, Plan>();

  constructor(schema: GraphQLSchema, document: DocumentNode, operation: OperationDefinitionNode) {
    this.#schema = schema;
    this.#document = document;
    this.#operation = operation;
    this.#fragments = Object.fromEntries(
      document.definitions.flatMap((one) => (one.kind === Kind.FRAGMENT_DEFINITION ? [[one.name.value, one]] : [])),
    );
    this.#conditions = conditionsOf(document);
  }

  /** Rejects where a mutation is done and its answer cannot be made: it must not be done once more. */
  async execute(context: Context, inputs: Variables): Promise<ExecutionResult> {
    const { operation, variableDefinitions = [] } = this.#operation;
    const { coerced, errors } = getVariableValues(this.#schema, variableDefinitions, inputs, { maxErrors: MAX_ERRORS });
    if (errors) return { errors };
    const plan = this.#planFor(coerced!);
    if (!plan) return this.#interpret(context, inputs);
    try {
      return await new Execution(plan, context, coerced!).answer();
    } catch (error) {
      if (operation !== 'query') throw error;
      context.loaders.beginAgain();
      return this.#interpret(context, inputs);
    }
  }

  #planFor(variables: Variables): Plan | null {
    const key = this.#conditions.map((name) => (variables[name] ? '1' : '0')).join('');
    let plan = this.#plans.get(key);
    if (!plan) {
      if (this.#plans.size === MAX_PLANS) return null;
      plan = planOf(this.#schema, this.#operation, this.#fragments, variables);
      this.#plans.set(key, plan);
    }
    return plan;
  }

  async #interpret(contextValue: Context, variableValues: Variables): Promise<ExecutionResult> {
    const operationName = this.#operation.name?.value;
    return execute({ schema: this.#schema, document: this.#document, operationName, contextValue, variableValues });
  }
}

/** One execution of a plan. */
class Execution {
  readonly #plan: Plan;
  readonly #context: Context;
  readonly #variables: Variables;
  readonly #parents: Parents[];

  constructor(plan: Plan, context: Context, variables: Variables) {
    this.#plan = plan;
    this.#context = context;
    this.#variables = variables;
    this.#parents = Array.from({ length: plan.size }, () => ({ sources: [], targets: [] }));
  }

  async answer(): Promise<ExecutionResult> {
    const { begin, roots } = this.#plan;
    const data = begin(undefined, this.#parents);
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
    await this.#complete(root, values);
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

  /** Puts what the field is into the answers of its parents, and goes on below. */
  async #complete({ at, make, put, edges }: Edge, values: readonly unknown[]): Promise<void> {
    const { targets } = this.#parents[at]!;
    for (let index = 0; index < values.length; index++) put(targets[index]!, make(values[index], this.#parents));
    if (edges.length > 0) await this.#completeAll(edges);
  }

  /** What the field is, for each of its parents. */
  async #resolve({ at, field, nodes, selection }: Edge): Promise<unknown[]> {
    const context = this.#context;
    const { begin, enter, leave } = field.extensions.edge as FieldEdge;
    const call = begin(getArgumentValues(field, nodes[0]!, this.#variables), context, { selection } as never);
    const begun: unknown[] = [];
    let waits = false;
    try {
      for (const source of this.#parents[at]!.sources) {
        enter?.(source, context);
        const value = call(source);
        waits ||= isPromise(value);
        begun.push(value);
      }
    } catch (error) {
      await Promise.allSettled(begun);
      throw error;
    }
    const values = waits ? await Promise.all(begun) : begun;
    if (leave) for (const value of values) leave(value, context);
    return values;
  }
}

const isPromise = (value: unknown) => typeof (value as PromiseLike<unknown> | null)?.then === 'function';

function conditionsOf(document: DocumentNode): string[] {
  const names = new Set<string>();
  visit(document, {
    Directive: ({ arguments: given = [] }) => {
      for (const { value } of given) if (value.kind === Kind.VARIABLE) names.add(value.name.value);
    },
  });
  return [...names];
}
