import { printSchema } from 'graphql';
import { buildServiceSchema } from '../../../resolvers/service-schema.ts';
import { printScalarMap } from '../../../schema/codegen.ts';
import { createRouteTable } from '../../../schema/route-table.ts';
import { buildConsoleSchema } from '../../console/server/console-schema.ts';
import { PLACEHOLDER_URL } from '../../http/documents/page.ts';
import { createOpenApiDocument } from '../../rest/openapi.ts';

/** Generates the committed documents, with paths relative to the folder `schema`. */
export async function generateSchemaDocuments(): Promise<[file: string, text: string][]> {
  const schema = buildServiceSchema();
  const document = await createOpenApiDocument(schema, createRouteTable(schema), PLACEHOLDER_URL);
  return [
    ['schema.graphql', `${printSchema(schema)}\n`],
    ['console.graphql', `${printSchema(buildConsoleSchema(schema))}\n`],
    ['openapi.json', `${JSON.stringify(document, null, 2)}\n`],
    ['../docs/graphql-codegen.ts', printScalarMap(schema)],
  ];
}
