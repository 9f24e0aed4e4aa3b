import cluster from 'node:cluster';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import promClient, { AggregatorRegistry } from 'prom-client';
import type { RateLimiter } from '../../auth/rate-limiter.ts';
import type { Config } from '../../config.ts';
import { isLoopback } from '../../config.ts';
import type { Databases } from '../../database/database.ts';
import type { FairShares } from '../../limits/fair-shares.ts';
import { forbidden, unavailable } from '../../shared/errors.ts';
import { hashSecret, isSecretOf } from '../../shared/secrets.ts';
import type { Storages } from '../../storage/storage.ts';
import type { LargeBodyParser } from '../bodies/large-body-parser.ts';
import { rejectOtherMethods } from '../method-not-allowed.ts';
import { observeBacklogs } from './backlogs.ts';
import { observeDatabases } from './database.ts';
import { primaryRegistry } from './jobs.ts';
import { observeLimits, observeWork } from './limits.ts';

/**
 * Registers `/metrics` in the text format of Prometheus, with sums over all workers and the metrics of the process that runs the jobs. It
 * requires `METRICS_TOKEN`; only outside production and without a configured token may loopback addresses read it. In production a proxy
 * or another container may have such an address.
 */
export async function registerMetrics(app: FastifyInstance, sources: MetricSources): Promise<void> {
  const { config, databases, storages } = sources;
  app.get('/metrics', {
    onRequest: async (request) => requireMetricsAccess(request, config),
    handler: async (_request, reply) =>
      reply
        .type(promClient.register.contentType)
        .send(await (cluster.isWorker ? requestFromPrimary() : withPrimaryMetrics(promClient.register.metrics()))),
  });
  rejectOtherMethods(app, ['/metrics']);
  observeDatabases(databases);
  observeLimits(sources.rateLimiters, sources.shares);
  observeWork(sources.largeBodies, storages);
  observeBacklogs(databases);
}

/** What the metrics are read from. */
interface MetricSources {
  config: Config;
  databases: Databases;
  storages: Storages;
  shares: FairShares;
  rateLimiters: readonly RateLimiter[];
  largeBodies: LargeBodyParser;
}

const withPrimaryMetrics = async (metrics: Promise<string>) => `${await metrics}\n${await primaryRegistry.metrics()}`;

/** Whether the request carries METRICS_TOKEN as its bearer token. */
export function hasMetricsToken(request: FastifyRequest, { metricsToken }: Config): boolean {
  const token = request.headers.authorization?.replace(/^Bearer +/i, '');
  return Boolean(token && metricsToken && isSecretOf(token, [hashSecret(metricsToken)]));
}

/** Throws 403 unless the request has the token or, without one outside production, comes directly from this machine. */
function requireMetricsAccess(request: FastifyRequest, config: Config): void {
  const { metricsToken, production } = config;
  // Requests through a local proxy come from loopback too, with a forwarding header.
  const direct = request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined;
  const isLocal = !production && metricsToken === null && direct && isLoopback(request.socket.remoteAddress ?? '');
  if (!isLocal && !hasMetricsToken(request, config)) throw forbidden('Metrics need METRICS_TOKEN as a bearer token.');
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
    const text = await withPrimaryMetrics(registry.clusterMetrics()).catch(() => null);
    worker.send({ type, id, text } satisfies MetricsResponse, () => undefined);
  });
}
