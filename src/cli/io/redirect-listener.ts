import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import { CliError } from '../cli-error.ts';
import type { CliIo } from './cli-io.ts';

/** Milliseconds to wait for the browser. */
const REDIRECT_TIMEOUT_MS = 10 * 60_000;

export const getPort = (uri: URL) => Number(uri.port || 80);

/** Listens at a loopback redirect URI. `answer` is the address of the first request with this `state`; others get 404. */
export async function listenForRedirect(
  io: CliIo,
  redirectUri: URL,
  state: string,
): Promise<{ answer: Promise<URL>; close(): void }> {
  const server = createServer();
  const answer = Promise.withResolvers<URL>();
  // A rejection before the caller awaits it is not an unhandled one.
  answer.promise.catch(() => undefined);
  server.on('request', (request: IncomingMessage, response) => {
    const url = URL.parse(request.url ?? '/', redirectUri);
    const isAnswer = url?.pathname === redirectUri.pathname && url.searchParams.get('state') === state;
    const page = isAnswer ? toResponseText(url) : 'Not found.';
    response.writeHead(isAnswer ? 200 : 404, { 'Content-Type': 'text/plain; charset=utf-8', Connection: 'close' });
    response.end(page, () => isAnswer && answer.resolve(url));
  });
  await bind(server, redirectUri);
  const timer = setTimeout(
    () => answer.reject(new Error('the browser did not return within 10 minutes')),
    REDIRECT_TIMEOUT_MS,
  );
  const unregister = io.onInterrupt?.(async () => answer.reject(new Error('interrupted')));
  const close = () => {
    clearTimeout(timer);
    unregister?.();
    server.close();
    server.closeAllConnections();
  };
  return { answer: answer.promise, close };
}

function bind(server: Server, redirectUri: URL): Promise<void> {
  const port = getPort(redirectUri);
  const host = redirectUri.hostname.replace(/^\[|\]$/g, '');
  return new Promise((resolve, reject) => {
    server.once('error', ({ code }: NodeJS.ErrnoException) => {
      const problem = code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${code})`;
      reject(
        new CliError(`--port: port ${port} of ${host} ${problem}: free it, or use another registered redirect URI.`),
      );
    });
    server.listen({ port, host }, resolve);
  });
}

const toResponseText = ({ searchParams }: URL) =>
  searchParams.has('code')
    ? 'Done. The tokens are in the terminal; this tab can be closed.'
    : `Not allowed: ${searchParams.get('error_description') ?? searchParams.get('error')} This tab can be closed.`;

/** Opens the address in the default browser. Errors are ignored, because the address is printed too. */
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
