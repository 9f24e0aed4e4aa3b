import fc from 'fast-check';
import {
  buildSchema,
  defaultFieldResolver,
  type ExecutionResult,
  execute,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getOperationAST,
  getVariableValues,
  isLeafType,
  isObjectType,
  parse,
} from 'graphql';
import { beforeEach, describe, expect, it } from 'vitest';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { compileOperation } from '../../src/graphql/engine/compile-operation.ts';
import type { FieldEdge } from '../../src/graphql/engine/resolver-factories.ts';
import { ResponseMeter } from '../../src/limits/response-meter.ts';

const SDL = `
  type Query { node(seed: Int! = 1): Node sure(seed: Int! = 2): Node! many(seed: Int! = 3): [Node!]! word: String }
  type Mutation { change(seed: Int! = 1): Node }
  type Node {
    id: Int!
    word: String
    certain: String!
    tags: [String!]
    held: Held
    holds: [Held!]!
    next(step: Int = 1): Node
    soon(step: Int = 2): Node!
    list(step: Int = 3): [Node]
    lists: [[Node!]]
    count(step: Int = 5): Int!
  }
  type Held { word: String! node: Node }
`;

/** Values of fields with a resolver, derived from the seed of the parent; some are invalid. */
interface Source {
  seed: number;
}

/** One in that many values is null, and one in that many resolver calls fails; 0 for none. */
let failureInterval = 0;
const isFailing = (seed: number) => failureInterval > 0 && Math.abs((seed * 2_654_435_761) % failureInterval) < 1;

const createSource = (seed: number): Source & Record<string, unknown> => ({
  seed,
  id: seed,
  word: isFailing(seed + 1) ? undefined : `word ${seed}`,
  certain: isFailing(seed + 2) ? null : 'certain',
  tags: seed % 3 === 0 ? null : ['a', `b ${seed}`],
  held: seed % 4 === 0 ? null : createHeldSource(seed + 1),
  holds: Array.from({ length: seed % 3 }, (_, at) => createHeldSource(seed + at)),
});
const createHeldSource = (seed: number) => ({ seed, word: isFailing(seed + 3) ? null : `held ${seed}` });

let resolverCalls = 0;

function resolveField(
  parent: Source | undefined,
  field: GraphQLField<unknown, unknown>,
  args: Record<string, unknown>,
): unknown {
  resolverCalls++;
  const seed = ((parent?.seed ?? 0) * 7 + Number(args.seed ?? args.step ?? 1) * 13 + field.name.length) % 1_000;
  if (isFailing(seed)) {
    if (seed % 2 === 0) throw new Error(`${field.name} of ${seed} throws`);
    return Promise.reject(new Error(`${field.name} of ${seed} fails`));
  }
  if (isFailing(seed + 4)) return null;
  const count = seed % 3;
  const values: Record<string, unknown> = {
    many: Array.from({ length: count + 1 }, (_, at) => createSource(seed + at)),
    list: Array.from({ length: count }, (_, at) => (isFailing(seed + at) ? null : createSource(seed + at))),
    lists: [[createSource(seed)], seed % 5 === 0 ? null : [], [createSource(seed + 1), createSource(seed + 2)]],
    count: seed,
    word: `word ${seed}`,
  };
  const value = field.name in values ? values[field.name] : createSource(seed);
  return seed % 3 === 0 ? value : Promise.resolve(value);
}

/** Returns the schema with resolvers for root fields, fields with arguments and fields of the type Node. */
function createSchemaWithResolvers(): GraphQLSchema {
  const schema = buildSchema(SDL);
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      const isRoot = type.name === 'Query' || type.name === 'Mutation';
      if (!isRoot && field.args.length === 0 && getNamedType(field.type).name !== 'Node') continue;
      const edge: FieldEdge = {
        createResolver: (args) => (source) => resolveField(source as Source | undefined, field, args),
      };
      field.resolve = async (source, args) => resolveField(source as Source | undefined, field, args);
      field.extensions = { resolved: true, edge };
    }
  }
  return schema;
}

const schema = createSchemaWithResolvers();
let loaderResets = 0;
const context = {
  loaders: { reset: () => loaderResets++ },
  meter: new ResponseMeter(),
} as unknown as RequestContext;

beforeEach(() => {
  failureInterval = 0;
  resolverCalls = 0;
  loaderResets = 0;
});

/** Returns the result with sorted errors, because graphql-js lists them in the order of occurrence. */
function normalizeResult(result: ExecutionResult): unknown {
  const { data, errors } = JSON.parse(JSON.stringify(result)) as ExecutionResult;
  const byPath = (one: object, other: object) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  return { data, errors: errors && [...errors].sort(byPath) };
}

/**
 * Executes with graphql-js. Property values are promises: graphql-js 16 drops the promises of a list whose other item fails
 * synchronously, and a dropped promise that rejects is an unhandled rejection.
 */
const executeInterpreted = async (document: string, variableValues = {}) =>
  normalizeResult(
    await execute({
      schema,
      document: parse(document),
      contextValue: context,
      variableValues,
      fieldResolver: async (...call) => defaultFieldResolver(...call),
    }),
  );

/** Executes as the service does: compiled, or by graphql-js when the compiled operation declines. */
async function executeCompiled(document: string, variables = {}) {
  const parsed = parse(document);
  const operation = compileOperation(schema, parsed);
  if (!operation) throw new Error(`${document} is not compiled.`);
  const { variableDefinitions = [] } = getOperationAST(parsed)!;
  const { coerced } = getVariableValues(schema, variableDefinitions, variables);
  const answer = await operation.execute(context, coerced!);
  return answer ? normalizeResult(answer) : executeInterpreted(document, variables);
}

/** Generates selections of a type with aliases, merged fields and fragments. */
const selections = (typeName: string, depth: number): fc.Arbitrary<string> => {
  const type = schema.getType(typeName);
  if (!isObjectType(type)) throw new Error(`${typeName} is no object type.`);
  const one = fc.constantFrom(...Object.values(type.getFields())).chain((field): fc.Arbitrary<string> => {
    const named = getNamedType(field.type);
    const head = fc.tuple(fc.constantFrom('', 'a: ', 'value: '), fc.nat(20)).map(([alias, value]) => {
      const [first] = field.args;
      return `${alias && `${alias.slice(0, -2)}_${field.name}_${value}: `}${field.name}${first ? `(${first.name}: ${alias ? value : 4})` : ''}`;
    });
    if (isLeafType(named)) return head;
    if (depth === 0) return fc.constant('__typename');
    return fc.tuple(head, selections(named.name, depth - 1)).map(([text, inner]) => `${text} ${inner}`);
  });
  return fc
    .tuple(
      fc.array(
        fc.oneof(
          { weight: 4, arbitrary: one },
          {
            weight: 1,
            arbitrary: fc
              .tuple(fc.constantFrom('@skip', '@include'), fc.constantFrom('$yes', '$no'), one)
              .map(([directive, variable, text]) => `... ${directive}(if: ${variable}) { ${text} }`),
          },
          { weight: 1, arbitrary: one.map((text) => `... on ${typeName} { ${text} }`) },
        ),
        { minLength: 1, maxLength: 4 },
      ),
    )
    .map(([fields]) => `{ ${fields.join(' ')} __typename }`);
};

const queries = selections('Query', 4).map((text) => `query ($yes: Boolean! = true, $no: Boolean = false) ${text}`);

describe('an operation that is compiled', () => {
  it('has the same result as in graphql-js', async () => {
    await fc.assert(
      fc.asyncProperty(queries, fc.boolean(), async (document, yes) => {
        expect(await executeCompiled(document, { yes })).toEqual(await executeInterpreted(document, { yes }));
        expect(loaderResets).toBe(0);
      }),
      { numRuns: 300 },
    );
  });

  it('has the same result as in graphql-js when fields fail or are null', async () => {
    await fc.assert(
      fc.asyncProperty(queries, fc.integer({ min: 5, max: 60 }), async (document, one) => {
        failureInterval = one;
        const [ours, theirs] = [await executeCompiled(document), await executeInterpreted(document)];
        const { data, errors } = ours as { data: unknown; errors?: { message: string; path: unknown }[] };
        expect(data).toEqual((theirs as typeof ours & { data: unknown }).data);
        const known = (theirs as { errors?: object[] }).errors ?? [];
        // When several fields fail and one error nulls the response, graphql-js may or may not report the others.
        expect(Boolean(errors)).toBe(known.length > 0);
        if (data !== null) expect(errors ?? []).toEqual(known);
      }),
      { numRuns: 500 },
    );
    expect(loaderResets).toBeGreaterThan(0);
  });

  it('prints fields in the order of the query, each once', async () => {
    const document = '{ node { word id ... on Node { held { word } id } certain held { again: word } } }';
    const { data } = (await executeCompiled(document)) as { data: { node: object } };
    expect(JSON.stringify(data)).toBe(
      '{"node":{"word":"word 17","id":17,"held":{"word":"held 18","again":"held 18"},"certain":"certain"}}',
    );
  });

  it('calls a resolver once for each parent', async () => {
    await executeCompiled('{ many(seed: 2) { next { word } } }');
    const parents = resolverCalls - 1;
    expect(parents).toBe(
      ((await executeInterpreted('{ many(seed: 2) { id } }')) as { data: { many: [] } }).data.many.length,
    );
  });

  it('is planned for each combination of its conditions, and left to graphql-js beyond 16', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    const document = `query (${names.map((name) => `$${name}: Boolean!`).join(' ')}) { node { id ${names.map((name) => `${name}: word @include(if: $${name})`).join(' ')} } }`;
    const operation = compileOperation(schema, parse(document))!;
    for (let way = 0; way < 32; way++) {
      const variables = Object.fromEntries(names.map((name, at) => [name, Boolean(way & (1 << at))]));
      const answer = await operation.execute(context, variables);
      if (way < 16) expect(normalizeResult(answer!)).toEqual(await executeInterpreted(document, variables));
      else expect(answer).toBeNull();
    }
  });

  it('is left to graphql-js where a condition is null', async () => {
    const document = 'query ($no: Boolean = false) { node { id word @include(if: $no) } }';
    for (const no of [false, null])
      expect(await executeCompiled(document, { no })).toEqual(await executeInterpreted(document, { no }));
    const operation = compileOperation(schema, parse(document))!;
    expect(await operation.execute(context, { no: null })).toBeNull();
  });

  const toEdge = (resolve: (source: never) => unknown): FieldEdge => ({
    createResolver: () => resolve as (source: unknown) => unknown,
  });

  /** Compiles a query of a field of each node, whose edge may be changed. */
  function valuesOf(nodes: number[], value: (node: number) => unknown, changes: Partial<FieldEdge> = {}) {
    const own = buildSchema('type Query { many: [Node!]! } type Node { value: Int! }');
    own.getQueryType()!.getFields().many!.extensions = { edge: toEdge(() => nodes) };
    const edge = { ...toEdge(value), ...changes };
    (own.getType('Node') as GraphQLObjectType).getFields().value!.extensions = { edge };
    return compileOperation(own, parse('{ many { value } }'))!;
  }

  it('is tried less often while it fails, and always after a success', async () => {
    let fails = true;
    let tries = 0;
    const operation = valuesOf([1], (node) => {
      tries++;
      if (fails) throw new Error('It fails.');
      return node;
    });
    const tried = async (): Promise<boolean> => {
      const before = tries;
      await operation.execute(context, {});
      return tries > before;
    };
    const times: boolean[] = [];
    for (let time = 0; time < 12; time++) times.push(await tried());
    expect(times.flatMap((was, at) => (was ? [at] : []))).toEqual([0, 2, 5, 10]);
    fails = false;
    while (!(await tried()));
    expect(await Promise.all([tried(), tried()])).toEqual([true, true]);
  });

  it('waits for all started resolvers before it fails', async () => {
    let ended = 0;
    const operation = valuesOf([0, 1, 2], async (node) => {
      if (node === 0) throw new Error('The first fails.');
      await new Promise((done) => setImmediate(done));
      ended++;
      return node;
    });
    expect(await operation.execute(context, {})).toBeNull();
    expect(ended).toBe(2);
  });

  it('has null for a list that is null, without graphql-js', async () => {
    const own = buildSchema('type Query { many: [Node!] } type Node { value: Int! }');
    own.getQueryType()!.getFields().many!.extensions = { edge: toEdge(() => null) };
    const operation = compileOperation(own, parse('{ many { value } }'))!;
    expect(await operation.execute(context, {})).toMatchObject({ data: { many: null } });
  });

  it('executes a mutation once, whatever its response is', async () => {
    failureInterval = 1;
    const operation = compileOperation(schema, parse('mutation { change { certain } }'))!;
    const outcome = await operation.execute(context, {});
    expect(resolverCalls).toBe(1);
    expect(outcome).toMatchObject({ data: { change: null }, errors: [{ path: ['change'] }] });
  });

  it('rejects when a mutation has run and its response is invalid, so that it does not run again', async () => {
    const own = buildSchema('type Query { id: Int } type Mutation { change: Node } type Node { certain: String! }');
    let changes = 0;
    const edge = toEdge(() => {
      changes++;
      return { certain: null };
    });
    own.getMutationType()!.getFields().change!.extensions = { edge };
    const operation = compileOperation(own, parse('mutation { change { certain } }'))!;
    await expect(operation.execute(context, {})).rejects.toThrow('Node.certain is null');
    expect(changes).toBe(1);
  });

  it('authorizes each value that a resolver returns, and returns null where one is not allowed, so that graphql-js executes it', async () => {
    const authorizeResult = (value: unknown) => {
      if (value === 2) throw new Error('The second is not allowed.');
    };
    const execute = (nodes: number[]) => valuesOf(nodes, (node) => node, { authorizeResult }).execute(context, {});
    expect(await execute([1, 3])).toMatchObject({ data: { many: [{ value: 1 }, { value: 3 }] } });
    expect(await execute([1, 2, 3])).toBeNull();
  });

  it('creates no resolver of a field that has no parents', async () => {
    let created = 0;
    const createResolver: FieldEdge['createResolver'] = () => {
      created++;
      return (source) => source;
    };
    const execute = (nodes: number[]) => valuesOf(nodes, (node) => node, { createResolver }).execute(context, {});
    expect(await execute([])).toMatchObject({ data: { many: [] } });
    expect(created).toBe(0);
    await execute([1, 2]);
    expect(created).toBe(1);
  });

  it('counts the selected fields of every record, and rejects more than its limit (LIM-15)', async () => {
    const own = buildSchema('type Query { many: [Node!]! } type Node { id: Int! word: String }');
    own.getType('Node')!.extensions = { scope: 'read:nodes' };
    own.getQueryType()!.getFields().many!.extensions = { edge: toEdge(() => [createSource(1), createSource(2)]) };
    const operation = compileOperation(own, parse('{ many { id word } }'))!;
    const executeWithLimit = (maxFields: number) => {
      const meter = new ResponseMeter();
      meter.limit(maxFields, Number.POSITIVE_INFINITY);
      return operation.execute({ ...context, meter } as RequestContext, {});
    };
    expect(await executeWithLimit(4)).toMatchObject({ data: { many: [{ id: 1 }, { id: 2 }] } });
    await expect(executeWithLimit(3)).rejects.toThrow('it has 4, and the limit is 3');
  });

  it.each([
    ['a union', 'type Query { one: One } union One = Two type Two { id: Int }', '{ one { ... on Two { id } } }'],
    ['the schema', 'type Query { id: Int }', '{ __schema { queryType { name } } }'],
    ['more than a document should be kept for', 'type Query { id: Int }', `{ ${'a'.repeat(20_001)}: id }`],
    ['several mutations', 'type Query { id: Int } type Mutation { id: Int }', 'mutation { a: id b: id }'],
    ['a name that stands for a prototype', 'type Query { id: Int }', '{ __proto__: id }'],
  ])('is left to graphql-js where it asks for %s', (_what, sdl, document) => {
    expect(compileOperation(buildSchema(sdl), parse(document))).toBeNull();
  });
});
