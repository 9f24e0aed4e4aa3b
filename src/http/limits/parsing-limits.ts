import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { limitChunks, stopConnection } from '../../node-internals/http-parser.ts';
import { sendClientError } from '../client-errors.ts';

/** Bytes of sizes and extensions of chunks, beyond three for each byte of the body. */
const MAX_FRAMING_BYTES = 131_072;

/** Maximum headers of a request. */
export const MAX_HEADERS = 200;

/** Names and values alternate in `rawHeaders`. */
export const MAX_RAW_HEADERS = 2 * MAX_HEADERS;

/**
 * Limits the work of Node's HTTP parser, which reads up to 64 KiB of a connection at a time and calls JavaScript for each chunk and each
 * request in them, before any hook of Fastify. LIM-32.
 */
export function limitParsing(server: Server): void {
  // With one more the request is 431. Node ignores those after it, of which one may declare a chunked body.
  server.maxHeadersCount = MAX_HEADERS + 1;
  // Node would answer 417 itself, to as many requests as a connection sends.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}

/**
 * Closes the connection of a body in many small chunks, or with long extensions of chunks: with 400 where its response has not begun.
 */
export function limitBodyParsing(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const readBefore = socket.bytesRead;
  const close = () => {
    if (!response.headersSent && response.socket) {
      sendClientError(Object.assign(new Error('small chunks'), { code: 'SMALL_CHUNKS' }), socket);
    }
    stopConnection(socket);
  };
  const isExcessive = (bytes: number) => socket.bytesRead - readBefore > 4 * bytes + MAX_FRAMING_BYTES;
  limitChunks(request, close, isExcessive);
}
