import type { JsonSchema } from '../../../schema/scalar.ts';
import { REGIONS } from '../../shared/regions.ts';
import { respond } from '../openapi/responses.ts';
import { referenceTo } from '../openapi/schemas.ts';
import type { PlainRoute } from './route.ts';

export const healthRoutes: PlainRoute[] = [
  {
    method: 'GET',
    path: '/health/live',
    access: 'public',
    operation: {
      operationId: 'getLiveness',
      tags: ['Service'],
      summary: 'Tell whether the process answers',
      description: 'For the supervisor of the process: one that does not answer has to be started again.',
      responses: { 200: respond('It does.', { schema: referenceTo('Liveness') }, []) },
    },
  },
  {
    method: 'GET',
    path: '/health/ready',
    access: 'public',
    operation: {
      operationId: 'getReadiness',
      tags: ['Service'],
      summary: 'Tell whether the service and its databases answer',
      description: 'For a load balancer: an instance that answers 503 should get no requests for now.',
      responses: {
        200: respond(
          'They do. A region that is `read-only` answers reads and gives client-credentials tokens; its writes are 503.',
          { schema: referenceTo('Readiness') },
          [],
        ),
        503: respond('A database does not.', { schema: referenceTo('Readiness') }, []),
      },
    },
  },
];

const stateOf = (what: string) => ({
  type: 'string',
  enum: ['ok', 'read-only', 'unavailable'],
  description: `Whether ${what}.`,
});

export const healthSchemas: Record<string, JsonSchema> = {
  Liveness: {
    type: 'object',
    properties: { status: { type: 'string', enum: ['ok'], description: 'Says that the process answers.' } },
    required: ['status'],
  },
  Readiness: {
    type: 'object',
    properties: {
      status: stateOf('the databases of all regions answer'),
      regions: {
        type: 'object',
        description: 'State of the database of each region.',
        properties: Object.fromEntries(REGIONS.map((region) => [region, stateOf(`the database of ${region} answers`)])),
        required: REGIONS,
      },
    },
    required: ['status', 'regions'],
  },
};
