import type { JsonSchema } from '../../../schema/scalar.ts';
import { REGIONS } from '../../context.ts';
import { referenceTo } from '../openapi/schemas.ts';
import { answer, type PlainRoute } from './route.ts';

export const healthRoutes: PlainRoute[] = [
  {
    method: 'GET',
    path: '/health/live',
    access: 'public',
    operation: {
      operationId: 'getLiveness',
      tags: ['Service'],
      summary: 'Tell whether the process answers',
      responses: { 200: answer('It does.', referenceTo('Liveness'), { status: 'ok' }, []) },
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
      responses: {
        200: answer('They do.', referenceTo('Readiness'), readiness('ok', 'ok'), []),
        503: answer('A database does not.', referenceTo('Readiness'), readiness('unavailable', 'ok'), []),
      },
    },
  },
];

function readiness(au1: string, us1: string): object {
  return { status: au1 === 'ok' && us1 === 'ok' ? 'ok' : 'unavailable', regions: { au1, us1 } };
}

const stateOf = (what: string) => ({ type: 'string', enum: ['ok', 'unavailable'], description: `Whether ${what}.` });

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
