import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { Refusal } from '../cli-error.ts';
import type { Shell } from './cli-io.ts';

/** How long the browser may take: a code would not live longer either. */
const PATIENCE_MS = 10 * 60_000;

export const portOf = (uri: URL) => Number(uri.port || 80);

/** Waits for the browser at the redirect URI, with this state, and takes no notice of anything else. */
export async function listen(
  shell: Shell,
  redirectUri: URL,
  state: string,
): Promise<{ answer: Promise<URL>; close(): void }> {
  const server = createServer();
  const answer = Promise.withResolvers<URL>();
  // Nobody may be waiting for it yet.
  answer.promise.catch(() => undefined);
  server.on('request', (request: IncomingMessage, response) => {
    const url = URL.parse(request.url ?? '/', redirectUri);
    const isAnswer = url?.pathname === redirectUri.pathname && url.searchParams.get('state') === state;
    const page = isAnswer ? pageOf(url) : 'Nothing is here.';
    response.writeHead(isAnswer ? 200 : 404, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
    response.end(page, () => isAnswer && answer.resolve(url));
  });
  await bind(server, redirectUri);
  const timer = setTimeout(() => answer.reject(new Error('nobody came back within 10 minutes')), PATIENCE_MS);
  const forget = shell.onInterrupt?.(async () => answer.reject(new Error('interrupted')));
  const close = () => {
    clearTimeout(timer);
    forget?.();
    server.close();
    server.closeAllConnections();
  };
  return { answer: answer.promise, close };
}

function bind(server: Server, redirectUri: URL): Promise<void> {
  const port = portOf(redirectUri);
  const host = redirectUri.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      const problem = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`;
      reject(
        new Refusal(`--port: port ${port} of ${host} ${problem}: free it, or name another registered redirect URI.`),
      );
    });
    server.listen({ port, host }, resolve);
  });
}

const pageOf = ({ searchParams }: URL) =>
  searchParams.has('code')
    ? 'Done. The tokens are in the terminal; this tab can be closed.'
    : `Not allowed: ${searchParams.get('error_description') ?? searchParams.get('error')} This tab can be closed.`;

/** With the system's own opener; where there is none, the printed address has to do. */
export function openBrowser(address: string): void {
  const [command, ...args] =
    process.platform === 'darwin'
      ? ['open', address]
      : process.platform === 'win32'
        ? ['rundll32', 'url.dll,FileProtocolHandler', address]
        : ['xdg-open', address];
  spawn(command!, args, { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}
