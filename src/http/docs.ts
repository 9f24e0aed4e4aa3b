import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

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

interface DocsParts {
  document: object;
  /** Takes a request from the address's budget. Without it everybody may ask as often as they like. */
  limitVisitor?: (request: FastifyRequest, reply: FastifyReply) => Promise<void>;
}

/** `/openapi.json`, and `/docs`, the reference page made from it. */
export async function registerDocs(app: FastifyInstance, { document, limitVisitor }: DocsParts): Promise<void> {
  const text = JSON.stringify(document);
  let page: Promise<FastifyInstance> | null = null;
  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    page ??= referencePage();
    const { statusCode, headers, rawPayload } = await (await page).inject({ method: 'GET', url: request.url });
    reply.header('Content-Security-Policy', PAGE_POLICY);
    for (const name of ['content-type', 'location']) if (headers[name]) reply.header(name, headers[name]);
    return reply.code(statusCode).send(rawPayload);
  };
  // Browsers ask for it wherever the page names no icon.
  app.get('/favicon.ico', async (_request, reply) => reply.code(204).send());
  await app.register(async (docs) => {
    if (limitVisitor) docs.addHook('onRequest', limitVisitor);
    docs.get('/openapi.json', async (_request, reply) =>
      reply
        .header('Content-Type', 'application/json; charset=utf-8')
        .header('Access-Control-Allow-Origin', '*')
        .send(text),
    );
    docs.get('/', async (_request, reply) => reply.redirect('/docs'));
    docs.get('/docs', answer);
    docs.get('/docs/*', answer);
  });
}

/** A server of its own, made when somebody first asks: Scalar's bundle takes as much memory as a third of the service. */
async function referencePage(): Promise<FastifyInstance> {
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const server = Fastify();
  await server.register(scalar, { routePrefix: '/docs', configuration: CONFIGURATION as never });
  await server.ready();
  return server;
}

const CONFIGURATION = {
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
};
