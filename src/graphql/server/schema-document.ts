import type { FastifyInstance } from 'fastify';
import { type GraphQLSchema, printSchema } from 'graphql';
import type { RequestAuthenticator } from '../../auth/request-authenticator.ts';
import { notFound } from '../../shared/errors.ts';

export const SCHEMA_DOCUMENT_PATH = '/graphql/schema.graphql';

/** Serves the schema in the schema definition language to every authenticated caller, where introspection is enabled. */
export function registerSchemaDocument(
  app: FastifyInstance,
  options: { schema: GraphQLSchema; authenticator: RequestAuthenticator; introspection: boolean },
): void {
  const { schema, authenticator, introspection } = options;
  let document: string | undefined;
  app.get(SCHEMA_DOCUMENT_PATH, {
    async onRequest(request, reply) {
      const authenticated = await authenticator.authenticate(request, reply);
      authenticator.createContext(request, authenticated);
      if (!introspection) throw notFound('Route');
    },
    handler: (_request, reply) => {
      document ??= `${printSchema(schema)}\n`;
      return reply.type('text/plain; charset=utf-8').send(document);
    },
  });
}
