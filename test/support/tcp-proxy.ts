import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * Starts a TCP proxy to the server of the URL, and returns the proxy's URL, which differs in its port.
 *
 * @param forward connects a client and the server.
 */
export async function startTcpProxy(url: string, forward: (client: Socket, server: Socket) => void): Promise<string> {
  const target = new URL(url);
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  listener.unref();
  listener.on('connection', (client) => forward(client, connect(Number(target.port), target.hostname)));
  const proxyUrl = new URL(url);
  proxyUrl.port = String((listener.address() as AddressInfo).port);
  return proxyUrl.href;
}
