import cluster from 'node:cluster';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import promClient, { AggregatorRegistry } from 'prom-client';
import type { Config } from '../config.ts';
import { isLoopback } from '../config.ts';
import { forbidden, unavailable } from '../shared/errors.ts';
import { digestOf, isSecretOf } from '../shared/secrets.ts';
import type { LargeBodyParser } from './large-bodies.ts';

/**
 * Registers `/metrics` in the text format of Prometheus, with sums over all workers. It requires `METRICS_TOKEN`; only outside production
 * and without a configured token may loopback addresses read it. In production a proxy or another container may have such an address.
 */
export function registerMetrics(app: FastifyInstance, config: Config, bodies: LargeBodyParser): void {
  // The registry is global: another app of the process may have registered the same metrics.
  promClient.register.clear();
  promClient.collectDefaultMetrics();
  app.get('/metrics', {
    onRequest: async (request) => requireMetricsAccess(request, config),
    handler: async (_request, reply) =>
      reply
        .type(promClient.register.contentType)
        .send(await (cluster.isWorker ? requestFromPrimary() : promClient.register.metrics())),
  });
  observeDurations(app);
  countParsedBodies(bodies);
}

function requireMetricsAccess(request: FastifyRequest, { metricsToken, production }: Config): void {
  const token = request.headers.authorization?.replace(/^Bearer +/i, '');
  // Requests through a local proxy come from loopback too, with a forwarding header.
  const direct = request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined;
  const allowed = !production && metricsToken === null && direct && isLoopback(request.socket.remoteAddress ?? '');
  if (!allowed && !(token && metricsToken && isSecretOf(token, [digestOf(metricsToken)]))) {
    throw forbidden('Metrics need METRICS_TOKEN as a bearer token.');
  }
}

/** Message of a worker to the primary. */
type MetricsRequest = { type: 'metrics'; id: number };
/** Message of the primary; the text is null where a worker did not respond in time. */
type MetricsResponse = MetricsRequest & { text: string | null };

let requestCount = 0;

/** Returns the metrics of all workers, which only the primary can collect. */
function requestFromPrimary(): Promise<string> {
  return new Promise((done, fail) => {
    const message: MetricsRequest = { type: 'metrics', id: requestCount++ };
    const listen = ({ type, id, text }: MetricsResponse) => {
      if (type !== message.type || id !== message.id) return;
      process.off('message', listen);
      if (text === null) fail(unavailable(new Error('A worker did not tell its metrics.')));
      else done(text);
    };
    process.on('message', listen);
    process.send!(message);
  });
}

/** Lets `/metrics` of every worker return the sums over all. Call it at the start of the primary and of each worker. */
export function shareMetrics(): void {
  const registry = new AggregatorRegistry();
  if (cluster.isWorker) return;
  cluster.on('message', async (worker, { type, id }: MetricsRequest) => {
    if (type !== 'metrics') return;
    const text = await registry.clusterMetrics().catch(() => null);
    worker.send({ type, id, text } satisfies MetricsResponse, () => undefined);
  });
}

/** Observes request durations, as Fastify measures them. Series are cached, because looking up labels is slow. */
function observeDurations(app: FastifyInstance): void {
  const durations = new promClient.Histogram({
    name: 'http_request_duration_seconds',
    help: 'request duration in seconds',
    labelNames: ['method', 'route', 'status_code'],
  });
  const series = new Map<string, { observe(seconds: number): void }>();
  app.addHook('onResponse', ({ method, routeOptions }, { statusCode, elapsedTime }, done) => {
    const route = routeOptions.url;
    if (route === undefined) return done();
    const name = `${method} ${route} ${statusCode}`;
    let histogram = series.get(name);
    if (!histogram) {
      histogram = durations.labels(method, route, String(statusCode));
      series.set(name, histogram);
    }
    histogram.observe(elapsedTime / 1000);
    done();
  });
}

function countParsedBodies({ parsed }: LargeBodyParser): void {
  new promClient.Gauge({
    name: 'parsed_bodies_total',
    help: 'JSON bodies of routes that accept large ones, by where they were parsed',
    labelNames: ['thread'],
    collect() {
      this.set({ thread: 'event_loop' }, parsed.eventLoop);
      this.set({ thread: 'worker' }, parsed.thread);
    },
  });
}
