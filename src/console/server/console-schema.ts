import { MapperKind, mapSchema, pruneSchema } from '@graphql-tools/utils';
import { extendSchema, type GraphQLSchema, parse } from 'graphql';
import { consoleAreas } from './areas.ts';

/** Queries of integrators about themselves, in place of which the console has its own. */
const REPLACED_QUERIES = new Set(['events', 'me', 'webhookDeliveries', 'webhookEndpoint', 'webhookEndpoints']);

/**
 * Returns the console's schema: the integrators' queries, and the types and operations of the console. Integrators' mutations are left
 * out, because the console changes no records of integrators.
 */
export function buildConsoleSchema(integratorSchema: GraphQLSchema): GraphQLSchema {
  const queries = mapSchema(integratorSchema, {
    [MapperKind.QUERY_ROOT_FIELD]: (field, name) => (REPLACED_QUERIES.has(name) ? null : field),
    [MapperKind.MUTATION_ROOT_FIELD]: () => null,
  });
  const types = consoleAreas.map((area) => area.types);
  return pruneSchema(extendSchema(queries, parse(types.join('\n'))));
}
