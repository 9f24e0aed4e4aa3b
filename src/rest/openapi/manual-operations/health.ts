import type { JsonSchema } from '../../../../schema/scalar.ts';
import { mapRegions } from '../../../shared/regions.ts';
import { describeJsonResponse } from '../responses.ts';
import { referToSchema, toObjectSchema } from '../schemas.ts';
import type { ManualOperation } from './manual-operation.ts';

export const healthOperations: ManualOperation[] = [
  {
    method: 'GET',
    path: '/health/live',
    access: 'public',
    operationId: 'getLiveness',
    tags: ['Service'],
    summary: 'Check liveness',
    description: 'For a process supervisor: a process that does not answer must be restarted.',
    responses: { 200: describeJsonResponse('The process is alive.', referToSchema('Liveness'), []) },
  },
  {
    method: 'GET',
    path: '/health/ready',
    access: 'public',
    operationId: 'getReadiness',
    tags: ['Service'],
    summary: 'Check readiness',
    description: 'For a load balancer: an instance that answers 503 should get no requests for now.',
    responses: {
      200: describeJsonResponse(
        'The service is ready. A `read-only` region serves reads and client-credentials tokens and answers writes with 503.',
        referToSchema('Readiness'),
        [],
      ),
      503: describeJsonResponse('A database does not answer.', referToSchema('Readiness'), []),
    },
  },
];

const stateSchema = (what: string) => ({
  type: 'string',
  enum: ['ok', 'read-only', 'unavailable'],
  description: `Whether ${what}.`,
});

export const healthSchemas: Record<string, JsonSchema> = {
  Liveness: toObjectSchema(null, { status: { type: 'string', enum: ['ok'], description: 'Always `ok`.' } }),
  Readiness: toObjectSchema(null, {
    status: stateSchema('the databases of all regions answer: the worst state, `unavailable` while the instance stops'),
    regions: toObjectSchema(
      'State of the database of each region.',
      mapRegions((region) => stateSchema(`the database of ${region} answers`)),
    ),
  }),
};
