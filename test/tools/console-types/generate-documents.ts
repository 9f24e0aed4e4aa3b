import { readFile } from 'node:fs/promises';
import { codegen } from '@graphql-codegen/core';
import * as operations from '@graphql-codegen/typescript-operations';
import {
  buildSchema,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  parse,
  print,
  visit,
} from 'graphql';

/** Types of scalars that are no texts. Ids are plain strings in the console, which takes them from addresses. */
const SCALARS = { PageOffset: 'number', PageLimit: 'number', JsonObject: 'Record<string, unknown>' };

/**
 * Returns the module with the types and texts of the console's operations.
 *
 * @param schemaFile SDL that the operations are checked against
 * @param files `.graphql` files; a file may use the fragments of others
 * @throws an error that names the operation, when one is not valid in the schema
 */
export async function generateTypedDocuments(schemaFile: string, files: readonly string[]): Promise<string> {
  const schema = buildSchema(await readFile(schemaFile, 'utf8'));
  const documents = await Promise.all(
    [...files].sort().map(async (location) => ({ location, document: parse(await readFile(location, 'utf8')) })),
  );
  const types = await codegen({
    filename: 'generated.ts',
    schema: parse(await readFile(schemaFile, 'utf8')),
    schemaAst: schema,
    documents,
    plugins: [{ operations: {} }],
    pluginMap: { operations },
    config: {
      scalars: SCALARS,
      defaultScalarType: 'string',
      enumType: 'string-literal',
      skipTypename: true,
      useTypeImports: true,
      namingConvention: 'keep',
      disableDescriptions: true,
    },
  });
  const definitions = documents.flatMap(({ document }) => document.definitions);
  const fragments = new Map(
    definitions.filter((node) => node.kind === Kind.FRAGMENT_DEFINITION).map((node) => [node.name.value, node]),
  );
  const texts = definitions
    .filter((node) => node.kind === Kind.OPERATION_DEFINITION)
    .map((operation) => printDocument(operation, fragments));
  return [
    "import type { TypedDocumentNode } from '@urql/core';",
    '',
    '/* Types and texts of the operations in `*.graphql`. Written by `npm run console:types`; do not edit. */',
    types.trim(),
    '',
    ...texts,
    '',
  ].join('\n');
}

/** Prints an operation as a constant that holds its text, with the fragments that it uses. */
function printDocument(operation: OperationDefinitionNode, fragments: ReadonlyMap<string, FragmentDefinitionNode>) {
  const used = new Map<string, FragmentDefinitionNode>();
  const collect = (node: OperationDefinitionNode | FragmentDefinitionNode) =>
    visit(node, {
      FragmentSpread({ name: { value } }) {
        if (used.has(value)) return;
        used.set(value, fragments.get(value)!);
        collect(fragments.get(value)!);
      },
    });
  collect(operation);
  const name = operation.name!.value;
  const kind = operation.operation === 'query' ? 'Query' : 'Mutation';
  const text = [operation, ...used.values()].map((node) => print(node)).join('\n');
  const type = `TypedDocumentNode<${name}${kind}, ${name}${kind}Variables>`;
  return `export const ${name}Document = \`${text}\` as unknown as ${type};`;
}
