import type { GraphQLSchema } from 'graphql';
import type { Operation } from '../../schema/build.ts';

export function openApiDocument(_schema: GraphQLSchema, _operations: Operation[], baseUrl: string): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Builder Integration API', version: 'v1' },
    servers: [{ url: baseUrl }],
    paths: {},
  };
}
