import scalar from '@scalar/fastify-api-reference';
import type { FastifyInstance } from 'fastify';

/** Scalar's bundle needs inline styles; nothing is loaded from, or sent to, another host. */
const PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "worker-src 'self' blob:",
  "frame-ancestors 'none'",
].join('; ');

/** `/openapi.json`, and `/docs`, the reference page made from it. */
export async function registerDocs(app: FastifyInstance, document: object): Promise<void> {
  const text = JSON.stringify(document);
  app.get('/openapi.json', async (_request, reply) =>
    reply
      .header('Content-Type', 'application/json; charset=utf-8')
      .header('Access-Control-Allow-Origin', '*')
      .send(text),
  );
  app.get('/', async (_request, reply) => reply.redirect('/docs'));
  await app.register(scalar, {
    routePrefix: '/docs',
    hooks: {
      onRequest: (_request, reply, done) => {
        reply.header('Content-Security-Policy', PAGE_POLICY);
        done();
      },
    },
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Builder Integration API',
      withDefaultFonts: false,
      hideClientButton: true,
      showDeveloperTools: 'never',
      orderSchemaPropertiesBy: 'preserve',
      orderRequiredPropertiesFirst: false,
      authentication: { preferredSecurityScheme: 'oauth2' },
      agent: { disabled: true },
      mcp: { disabled: true },
      telemetry: false,
    } as never,
  });
}
