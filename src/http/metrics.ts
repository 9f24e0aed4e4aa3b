import cluster from 'node:cluster';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import promClient, { AggregatorRegistry } from 'prom-client';
import type { Config } from '../config.ts';
import { isLoopback } from '../config.ts';
import { forbidden, unavailable } from '../shared/errors.ts';
import { digestOf, isSecretOf } from '../shared/secrets.ts';
import type { LargeBodyParser } from './large-bodies.ts';

/**
 * `/metrics` in Prometheus' text format; of workers, the sums over all. It needs `METRICS_TOKEN` from every address. Only outside
 * production, and while there is no token, loopback may read it without: in production a proxy or a neighbouring container may
 * reach the service from a loopback address.
 */
export function registerMetrics(app: FastifyInstance, config: Config, bodies: LargeBodyParser): void {
  // Of the process, not of the app: another one may have registered them before.
  promClient.register.clear();
  promClient.collectDefaultMetrics();
  app.get('/metrics', {
    onRequest: async (request) => requireReader(request, config),
    handler: async (_request, reply) =>
      reply
        .type(promClient.register.contentType)
        .send(await (cluster.isWorker ? askPrimary() : promClient.register.metrics())),
  });
  observeDurations(app);
  countParsedBodies(bodies);
}

function requireReader(request: FastifyRequest, { metricsToken, production }: Config): void {
  const token = request.headers.authorization?.replace(/^Bearer +/i, '');
  // What a proxy on this machine passes on comes from loopback too, but says for whom.
  const direct = request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined;
  const allowed = !production && metricsToken === null && direct && isLoopback(request.socket.remoteAddress ?? '');
  if (!allowed && !(token && metricsToken && isSecretOf(token, [digestOf(metricsToken)]))) {
    throw forbidden('Metrics need METRICS_TOKEN as a bearer token.');
  }
}

/** Asked of the primary by a worker, and the primary's answer; null where a worker did not tell its figures in time. */
type Question = { type: 'metrics'; id: number };
type Answer = Question & { text: string | null };

let questions = 0;

/** The primary alone reaches every worker. */
function askPrimary(): Promise<string> {
  return new Promise((done, fail) => {
    const question: Question = { type: 'metrics', id: questions++ };
    const listen = ({ type, id, text }: Answer) => {
      if (type !== question.type || id !== question.id) return;
      process.off('message', listen);
      if (text === null) fail(unavailable(new Error('A worker did not tell its metrics.')));
      else done(text);
    };
    process.on('message', listen);
    process.send!(question);
  });
}

/** To be called by the primary and by each worker as it begins, so that `/metrics` of any worker speaks for all. */
export function shareMetrics(): void {
  const registry = new AggregatorRegistry();
  if (cluster.isWorker) return;
  cluster.on('message', async (worker, { type, id }: Question) => {
    if (type !== 'metrics') return;
    const text = await registry.clusterMetrics().catch(() => null);
    worker.send({ type, id, text } satisfies Answer, () => undefined);
  });
}

/** One look-up for each series, and Fastify's own timer. */
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
    let one = series.get(name);
    if (!one) {
      one = durations.labels(method, route, String(statusCode));
      series.set(name, one);
    }
    one.observe(elapsedTime / 1000);
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
