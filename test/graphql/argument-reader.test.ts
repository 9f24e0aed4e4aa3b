import {
  buildSchema,
  type FieldNode,
  getArgumentValues,
  getOperationAST,
  type OperationDefinitionNode,
  parse,
} from 'graphql';
import { describe, expect, it } from 'vitest';
import { createArgumentReader } from '../../src/graphql/engine/argument-reader.ts';

const schema = buildSchema('type Query { records(id: ID!, limit: Int = 20, name: String, size: Int! = 5): Int }');
const field = schema.getQueryType()!.getFields().records!;

/** Returns the first field of a query with those arguments. */
function aField(given: string): FieldNode {
  const [operation] = parse(`query { records${given && `(${given})`} }`).definitions;
  return (operation as OperationDefinitionNode).selectionSet.selections[0] as FieldNode;
}

const resultOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return (error as Error).message;
  }
};

const anOperation = (declared: string) => getOperationAST(parse(`query ${declared && `(${declared})`} { item }`))!;

describe('the arguments of a field', () => {
  it.each([
    ['of variables', 'id: $id, limit: $limit, name: $name, size: $size', { id: 'a', limit: 3, name: 'b', size: 4 }],
    ['of other names', 'name: $id, id: $name', { id: 'a', name: 'b' }],
    ['that are null', 'id: $id, limit: $limit, name: $name', { id: 'a', limit: null, name: null }],
    ['whose variables are absent', 'id: $id, limit: $limit, name: $name, size: $size', { id: 'a' }],
    ['that are absent', 'id: $id', { id: 'a' }],
    ['of a variable that is named like a method of objects', 'id: $toString', {}],
    ['of literals', 'id: "a", limit: 1', {}],
    ['without a required one', 'name: $name', { name: 'b' }],
    ['without any', '', {}],
    ['with null for a required one', 'id: $id', { id: null }],
    ['with null for a required one that has a default', 'id: $id, size: $size', { id: 'a', size: null }],
    ['of a variable that is undefined', 'id: $id, name: $name', { id: 'a', name: undefined }],
  ])('%s are those of graphql-js', (_case, given, variables) => {
    const node = aField(given);
    const expected = resultOf(() => getArgumentValues(field, node, variables));
    const readArguments = createArgumentReader(field, node, anOperation(''));
    expect(resultOf(() => readArguments!(variables))).toStrictEqual(expected);
  });

  it.each([
    ['they are the variables of the operation', '$id: ID!, $limit: Int', true],
    ['a required one may be null', '$id: ID = "a", $limit: Int', false],
    ['the operation has another variable', '$id: ID!, $limit: Int, $other: Int', false],
  ])('need not be read where %s: %s', (_case, declared, isNull) => {
    const own = buildSchema('type Query { item(id: ID!, limit: Int): Int }').getQueryType()!.getFields().item!;
    const readArguments = createArgumentReader(own, aField('id: $id, limit: $limit'), anOperation(declared));
    expect(readArguments === null).toBe(isNull);
  });
});
