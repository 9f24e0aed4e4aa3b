import type { FastifyInstance } from 'fastify';
import type { GraphQLSchema } from 'graphql';
import promClient from 'prom-client';
import { parseRegion } from '../../auth/request-authenticator.ts';
import type { Config } from '../../config.ts';
import type { RequestLog } from '../../domain/request-log/request-log.ts';
import { DurationCounts } from '../../shared/duration-counts.ts';
import { collectCounter, collectDurations } from './collected.ts';
import { toFailedRequest } from './failed-request.ts';
import { collectInputNames } from './input-names.ts';
import { logFailure, logRequest } from './log-lines.ts';

/** Clients choose the names of GraphQL operations, so their number is bounded. */
const MAX_OPERATIONS = 100;
const MAX_INTEGRATORS = 200;

/** Path of a request to no route. */
const UNKNOWN_PATH = '*';

/**
 * Adds the hook that counts every request once its response has been sent: in the metrics by route, GraphQL operation and integrator, and in the
 * request log (REQ-1). It logs a line for each request, and one for each failure.
 */
export function countRequests(
  app: FastifyInstance,
  { config, requestLog, schema }: { config: Config; requestLog: RequestLog; schema: GraphQLSchema },
): void {
  const names = collectInputNames(schema);
  // The registry is global: another app of the process may have registered the same metrics.
  promClient.register.clear();
  promClient.collectDefaultMetrics();
  const operations = new DurationCounts(MAX_OPERATIONS);
  const integrators = new DurationCounts(MAX_INTEGRATORS);
  const durations = new promClient.Histogram({
    name: 'http_request_duration_seconds',
    help: 'request duration in seconds',
    labelNames: ['method', 'route', 'status_code'],
  });
  const logsRequests = ['trace', 'debug', 'info'].includes(config.logLevel);
  app.decorateRequest('failure', undefined);
  /** Paths as the contract writes them, by those of Fastify, which are `/builders/:id`. */
  const paths = new Map<string | undefined, string>();
  app.addHook('onRoute', ({ url }) => void paths.set(url, url.replace(/:(\w+)/g, '{$1}')));
  app.addHook('onResponse', (request, reply, done) => {
    const { context, caller } = request;
    const { statusCode, elapsedTime } = reply;
    const route = request.routeOptions.url;
    const seconds = elapsedTime / 1000;
    // A response of GraphQL has the status of an error in its body.
    const status = Math.max(statusCode, context?.operation.failure?.status ?? 0);
    const outcome = status >= 500 ? 'server_error' : status >= 400 ? 'client_error' : 'ok';
    request.usage?.end();
    if (route !== undefined) durations.observe({ method: request.method, route, status_code: statusCode }, seconds);
    if (context) integrators.add(context.caller.integratorId ?? 'internal', outcome, seconds);
    const label = context && route === '/graphql' ? toLabel(context.operation.name) : null;
    if (label) operations.add(label, outcome, seconds);
    if (caller?.integratorId) {
      const path = paths.get(route) ?? UNKNOWN_PATH;
      const { tool } = context?.operation ?? {};
      requestLog.add(
        context?.region ?? parseRegion(request),
        {
          integratorId: caller.integratorId,
          clientId: caller.clientId,
          operation: tool ? `tool ${tool}` : label ? `graphql ${label}` : `${request.method} ${path}`,
        },
        outcome !== 'ok' ? toFailedRequest(request, reply, path, names) : null,
      );
    }
    if (logsRequests) logRequest(request, reply);
    if (statusCode >= 500 && !request.isExpectedToFail) logFailure(request, statusCode);
    done();
  });
  app.addHook('onClose', () => requestLog.close());
  const operation = { name: 'graphql_operation', what: 'GraphQL requests', labelNames: ['operation'] };
  collectDurations(operation, () => [[{}, operations]]);
  const integrator = { name: 'integrator_request', what: 'authenticated requests', labelNames: ['integrator'] };
  collectDurations(integrator, () => [[{}, integrators]]);
  collectCounter({
    name: 'request_log_dropped_total',
    help: 'Failed requests that are counted and not in the request log, because an integrator had too many of them.',
    collect: () => [[{}, requestLog.dropped]],
  });
}

/** A name that is no name of GraphQL is not repeated: the client may have sent a megabyte. */
function toLabel(name: string | null): string {
  if (!name) return 'anonymous';
  return /^\w{1,100}$/.test(name) ? name : 'invalid';
}
