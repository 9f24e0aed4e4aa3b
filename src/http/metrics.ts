import type { FastifyInstance } from 'fastify';
import metrics from 'fastify-metrics';
import type { Config } from '../config.ts';
import { isLoopback } from '../config.ts';
import { forbidden } from '../errors.ts';
import { digestOf, isSecretOf } from '../oauth/secrets.ts';

/** `/metrics` in Prometheus' text format, for loopback or with `METRICS_TOKEN`. */
export async function registerMetrics(app: FastifyInstance, config: Config): Promise<void> {
  await app.register(metrics.default, {
    endpoint: {
      url: '/metrics',
      method: 'GET',
      onRequest: async (request) => {
        const token = request.headers.authorization?.replace(/^Bearer +/i, '');
        // What a proxy on this machine passes on comes from loopback too, but says for whom.
        const direct = request.headers['x-forwarded-for'] === undefined && request.headers.forwarded === undefined;
        const allowed = config.metricsToken === null && direct && isLoopback(request.socket.remoteAddress ?? '');
        if (!allowed && !(token && config.metricsToken && isSecretOf(token, [digestOf(config.metricsToken)]))) {
          throw forbidden('Metrics are for loopback, or with METRICS_TOKEN.');
        }
      },
      handler: () => undefined,
    },
    clearRegisterOnInit: true,
    routeMetrics: { enabled: { histogram: true, summary: false }, registeredRoutesOnly: true },
  });
}
