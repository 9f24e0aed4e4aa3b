import { createMcpHandler, ProtocolError, ProtocolErrorCode, Server } from '@modelcontextprotocol/server';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { findTokenRegion, MCP_PATH } from '../auth/access-tokens.ts';
import type { RequestAuthenticator } from '../auth/request-authenticator.ts';
import type { RequestContext } from '../auth/request-context.ts';
import { toRoute } from '../auth/request-pipeline.ts';
import type { Origins } from '../http/cors.ts';
import { rejectOtherMethods } from '../http/method-not-allowed.ts';
import { RESOURCE_PATH } from '../oauth/endpoints/server-metadata.ts';
import { createRestContext, type RestDefinition } from '../rest/plugin.ts';
import { forbidden, invalidField } from '../shared/errors.ts';
import { VERSION } from '../shared/version.ts';
import { type AgentTool, callTool, createTools, type OpenApiDocument } from './tools.ts';

const INSTRUCTIONS =
  'Records of construction companies (builders). Begin with get_me, which names the builders that you may read; other tools need the id of one.';

/** Milliseconds for which a client may keep the list of tools, which depends on the scopes of its token. */
const TOOLS_TTL_MS = 3_600_000;

/** What the library calls the reason, at the beginning of a message. */
const REASON = /^[A-Za-z ]+\(([a-z-]+)\)/;

/** Registers `/mcp`: the operations of REST as tools of the Model Context Protocol, without sessions. */
export async function registerMcp(
  app: FastifyInstance,
  dependencies: RestDefinition & {
    /** OpenAPI document. */
    document: object;
    toolAuthenticator: RequestAuthenticator;
    origins: Origins;
    baseUrl: string;
  },
): Promise<void> {
  const { document, toolAuthenticator: authenticator, origins, baseUrl } = dependencies;
  const tools = createTools(document as OpenApiDocument, { ...dependencies, authenticator });
  const handler = createMcpHandler(({ authInfo }) => createServer(tools, authInfo!.extra!.context as RequestContext), {
    // Tools do not change while the service runs.
    maxSubscriptions: 0,
    // The rest of a message repeats headers of the request.
    onerror: ({ name, message }) =>
      app.log.info({ type: name, reason: REASON.exec(message)?.[1] }, 'MCP request failed'),
  });
  app.addHook('onClose', () => handler.close());
  const { onRequest, handler: handle } = toRoute({
    authenticate(request: FastifyRequest, reply) {
      const { headers } = request;
      headers['x-service-region-id'] ??= findTokenRegion(headers.authorization?.replace(/^Bearer +/i, '') ?? '');
      return authenticator.authenticate(request, reply);
    },
    createContext: createRestContext(authenticator, null, null),
    async authorize({ headers: { origin } }) {
      // The protocol requires it, against pages whose host name resolves to the address of the service.
      const isForeign = origin !== undefined && origin !== new URL(baseUrl).origin;
      if (isForeign && !(await origins.has(origin))) throw forbidden('No public client has registered this origin.');
    },
    parseInput: ({ body }) => {
      // Each message is one request of the caller's limits.
      if (Array.isArray(body)) throw invalidField('body', 'must be one message');
      return body;
    },
    spanName: 'operation mcp',
    execute: (parsedBody, request) =>
      handler.fetch(toWebRequest(request, baseUrl), { parsedBody, authInfo: toAuthInfo(request) }),
    async respond(response: Response, _input, _request, reply) {
      reply.code(response.status);
      for (const [name, value] of response.headers) reply.header(name, value);
      // As a text, so that its bytes are charged to the share of the caller. No stream stays open.
      return response.text();
    },
  });
  await app.register(async (scope) => {
    scope.addHook('onSend', async (_request, reply) => {
      const challenge = reply.getHeader('www-authenticate');
      if (typeof challenge !== 'string') return;
      const separator = challenge === 'Bearer' ? ' ' : ', ';
      reply.header('www-authenticate', `${challenge}${separator}resource_metadata="${baseUrl}${RESOURCE_PATH}"`);
    });
    scope.post(MCP_PATH, { onRequest, config: { inputPrefix: 'params.arguments.' }, handler: handle });
  });
  rejectOtherMethods(app, [MCP_PATH], authenticator.authenticate);
}

/** Returns a server for one message of a caller, who sees the tools of its scopes. */
function createServer(tools: readonly AgentTool[], context: RequestContext): Server {
  const { scopes } = context.caller;
  const visible = tools.filter(({ operation: { scope } }) => scope === null || scopes.has(scope));
  const server = new Server(
    { name: 'builder-integration-api', version: VERSION },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      cacheHints: { 'tools/list': { ttlMs: TOOLS_TTL_MS, cacheScope: 'private' } },
    },
  );
  server.setRequestHandler('tools/list', () => ({ tools: visible.map(({ definition }) => definition) }));
  server.setRequestHandler('tools/call', ({ params }) => {
    const tool = visible.find(({ definition }) => definition.name === params.name);
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`);
    return callTool(tool, params.arguments ?? {}, context);
  });
  return server;
}

/** The library passes it on to the server of the message. */
function toAuthInfo({ context, headers }: FastifyRequest) {
  const { clientId, scopes } = context!.caller;
  return { token: headers.authorization!, clientId, scopes: [...scopes], extra: { context } };
}

/** Returns the request for the library, whose body has been parsed. */
const toWebRequest = ({ headers }: FastifyRequest, baseUrl: string): Request =>
  new Request(`${baseUrl}${MCP_PATH}`, { method: 'POST', headers: headers as Record<string, string> });
