import type { RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Server as TlsServer } from 'node:tls';
import type { FastifyInstance } from 'fastify';
import { stopConnection } from '../../node-internals/http-parser.ts';
import { discardBody } from '../bodies/rejected-bodies.ts';
import { limitBodyParsing, MAX_RAW_HEADERS } from './parsing-limits.ts';

/** Maximum concurrent requests per connection. */
const MAX_PIPELINED = 4;

/** Milliseconds after the beginning of a stop in which a new connection may send its first request. */
const GRACE_MS = 1_000;

/** Property of a connection. A WeakMap would take 1 µs of every request. */
const OPEN_REQUESTS = Symbol('open requests');

type CountedSocket = Socket & { [OPEN_REQUESTS]?: number };

/**
 * Returns a listener of the server that passes requests on, and closes connections with too many pipelined ones: Node parses all that arrive together in
 * one iteration of the event loop, before those of other connections. It also closes connections where a request takes longer than the
 * limit, from its headers to the end of its response.
 */
export function limitConnections(
  server: Pick<Server, 'listening' | 'once'>,
  listener: RequestListener,
  maxMs: number,
): RequestListener {
  /**
   * The requests without their whole response, and when they began. A timer of each would take 2 µs of every request. In a map, whose old
   * tables refer to the newer ones, they would stay in memory until a full collection of garbage.
   */
  const open: { response: ServerResponse; since: number }[] = [];
  const timer = setInterval(() => {
    const latest = performance.now() - maxMs;
    for (const { response, since } of open) if (since < latest) response.destroy();
  }, maxMs / 10).unref();
  server.once('close', () => clearInterval(timer));
  return (request, response) => {
    const socket = request.socket as CountedSocket;
    const pipelined = (socket[OPEN_REQUESTS] ?? 0) + 1;
    socket[OPEN_REQUESTS] = pipelined;
    if (pipelined > MAX_PIPELINED) {
      stopConnection(socket);
      socket.destroy();
      // Not before all listeners of the request have added theirs for its close: their timers would keep the response in memory.
      process.nextTick(closeWithoutSocket, response);
      return;
    }
    const begun = { response, since: performance.now() };
    open.push(begun);
    response.on('close', () => {
      const index = open.indexOf(begun);
      if (index === -1) return;
      open.splice(index, 1);
      socket[OPEN_REQUESTS]!--;
    });
    if (pipelined > 1) closeWithConnection(response, socket);
    const { headers, rawHeaders } = request;
    // Of too many headers Node has left out some, of which one may announce a body in chunks.
    const isChunked = headers['transfer-encoding'] !== undefined || rawHeaders.length > MAX_RAW_HEADERS;
    if (isChunked) limitBodyParsing(request, response);
    if (isChunked || headers['content-length'] !== undefined) discardBody(request, response, server);
    listener(request, response);
  };
}

/**
 * Closes a response that is behind another one of its connection when the connection closes. Node closes only the first of them: the others
 * would keep their permits, and their timers would keep them in memory (LIM-30).
 */
function closeWithConnection(response: ServerResponse, socket: Socket): void {
  const close = () => closeWithoutSocket(response);
  socket.once('close', close);
  response.once('close', () => socket.off('close', close));
}

/** Closes a response that has not become the first of its connection. */
function closeWithoutSocket(response: ServerResponse): void {
  if (response.socket) return;
  response.destroy();
  response.emit('close');
}

/**
 * Makes a stop of the server wait for requests only. Node waits for connections that have never sent a request too, for a minute, and for kept
 * connections whose last request ended after the stop had begun.
 */
export function endConnectionsOnClose(app: FastifyInstance): void {
  const { server } = app;
  const connections = new Set<CountedSocket>();
  server.on(server instanceof TlsServer ? 'secureConnection' : 'connection', (socket: Socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  app.addHook('preClose', async () => {
    const timer = setInterval(() => {
      for (const socket of connections) if (socket[OPEN_REQUESTS] === undefined) socket.destroy();
      server.closeIdleConnections();
    }, GRACE_MS);
    server.once('close', () => clearInterval(timer));
  });
}
