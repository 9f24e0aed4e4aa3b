import type { FastifyInstance } from 'fastify';
import { type GraphQLSchema, printSchema } from 'graphql';
import type { Context } from '../../resolvers/context.ts';
import type { Entrance } from '../context.ts';
import { notFound } from '../errors.ts';

export const SCHEMA_DOCUMENT_PATH = '/graphql/schema.graphql';

/** Serves the schema in the schema definition language to whoever may introspect it: any caller, where the operator allows it. */
export function registerSchemaDocument(
  app: FastifyInstance,
  options: { schema: GraphQLSchema; entrance: Entrance<Context>; introspection: boolean },
): void {
  const { schema, entrance, introspection } = options;
  let document: string | undefined;
  app.get(SCHEMA_DOCUMENT_PATH, {
    async onRequest(request, reply) {
      const visit = await entrance.enter(request, reply);
      entrance.context(request, visit);
      if (!introspection) throw notFound('Route');
    },
    handler: (_request, reply) => {
      document ??= `${printSchema(schema)}\n`;
      return reply.type('text/plain; charset=utf-8').send(document);
    },
  });
}
