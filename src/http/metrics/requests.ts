import type { FastifyInstance } from 'fastify';
import promClient from 'prom-client';
import type { RequestLog } from '../../domain/request-log/request-log.ts';
import { DurationCounts } from '../../shared/duration-counts.ts';
import { collectCounter, collectDurations } from './collected.ts';

/** Clients choose the names of GraphQL operations, so their number is bounded. */
const MAX_OPERATIONS = 100;
const MAX_INTEGRATORS = 200;

/** Registers the metrics of requests: by route, by GraphQL operation and by integrator. */
export function observeRequests(app: FastifyInstance): void {
  const operations = new DurationCounts(MAX_OPERATIONS);
  const integrators = new DurationCounts(MAX_INTEGRATORS);
  const durations = new promClient.Histogram({
    name: 'http_request_duration_seconds',
    help: 'request duration in seconds',
    labelNames: ['method', 'route', 'status_code'],
  });
  app.addHook('onResponse', ({ method, routeOptions, context }, { statusCode, elapsedTime }, done) => {
    const route = routeOptions.url;
    if (route === undefined) return done();
    const seconds = elapsedTime / 1000;
    durations.observe({ method, route, status_code: statusCode }, seconds);
    if (context) {
      const { integratorId } = context.caller;
      integrators.add(integratorId ?? 'internal', toOutcome(statusCode), seconds);
      if (route === '/graphql') {
        const outcome = context.operation.hasErrors && statusCode < 400 ? 'client_error' : toOutcome(statusCode);
        operations.add(toLabel(context.operation.name), outcome, seconds);
      }
    }
    done();
  });
  const operation = { name: 'graphql_operation', what: 'GraphQL requests', labelNames: ['operation'] };
  collectDurations(operation, () => [[{}, operations]]);
  const integrator = { name: 'integrator_request', what: 'authenticated requests', labelNames: ['integrator'] };
  collectDurations(integrator, () => [[{}, integrators]]);
}

/** A name that is no name of GraphQL is not repeated: the client may have sent a megabyte. */
function toLabel(name: string | null): string {
  if (!name) return 'anonymous';
  return /^\w{1,100}$/.test(name) ? name : 'invalid';
}

function toOutcome(status: number): string {
  if (status >= 500) return 'server_error';
  return status >= 400 ? 'client_error' : 'ok';
}

/** Registers the metric of what the log of requests has lost. */
export function observeUsage(log: RequestLog): void {
  collectCounter({
    name: 'usage_rejections_dropped_total',
    help: 'Rejections that were not kept, because an integrator had too many of them before they could be written.',
    collect: () => [[{}, log.droppedRejections]],
  });
}
