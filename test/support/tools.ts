import { BASE_URL, type Service } from './harness.ts';

/** Returns an access token for the tools, of a client of the demo. */
export async function createToolToken(
  service: Service,
  name: string,
  scopes: readonly string[] = service.findDemoClient(name).scopes,
): Promise<string> {
  const { clientId, regionId } = service.findDemoClient(name);
  const claims = { sub: clientId, client_id: clientId, scope: scopes.join(' '), aud: `${BASE_URL}/mcp` };
  return service.tokens.sign(regionId as 'au1', claims).token;
}

/** Sends one message to `/mcp`, as a client of 2026-07-28 does. */
export async function callMcp(
  service: Service,
  token: string,
  method: 'tools/list' | 'tools/call',
  params: { name?: string; arguments?: object } = {},
  headers: Record<string, string> = {},
) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  const response = await service.request({
    method: 'POST',
    url: '/mcp',
    headers: {
      authorization: `Bearer ${token}`,
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(params.name && { 'mcp-name': params.name }),
      ...headers,
    },
    payload: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
  });
  const challenge = response.headers['www-authenticate'] as string | undefined;
  return { status: response.statusCode, challenge, body: response.body === '' ? null : response.json() };
}
