import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { areChunksSmall, stopConnection } from '../shared/stop-parsing.ts';
import { sendClientError } from './client-errors.ts';

/** Bytes of sizes and extensions of chunks, beyond three for each byte of the body. */
const MAX_FRAMING_BYTES = 131_072;

/** Headers of a request that are read. Others are ignored. */
const MAX_HEADERS = 200;

/**
 * Limits the work of Node's HTTP parser, which reads up to 64 KiB of a connection at a time and calls JavaScript for each chunk and each
 * request in them, before any hook of Fastify. LIM-32.
 */
export function limitParsing(server: Server): void {
  server.maxHeadersCount = MAX_HEADERS;
  // Node would answer 417 itself, to as many requests as a connection sends.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers['transfer-encoding'] !== undefined) limitChunks(request, response);
  });
}

/** Closes the connection of a body in many small chunks, or with long extensions of them: with 400 where its response has not begun. */
function limitChunks(request: IncomingMessage, response: ServerResponse): void {
  const { socket } = request;
  const readBefore = socket.bytesRead;
  let chunks = 0;
  let bytes = 0;
  const push = request.push.bind(request);
  request.push = (chunk: Buffer | null, encoding) => {
    if (chunk === null) return push(chunk, encoding);
    chunks++;
    bytes += chunk.length;
    if (!areChunksSmall(chunks, bytes) && socket.bytesRead - readBefore <= 4 * bytes + MAX_FRAMING_BYTES)
      return push(chunk, encoding);
    if (!response.headersSent && response.socket) {
      sendClientError(Object.assign(new Error('small chunks'), { code: 'SMALL_CHUNKS' }), socket);
    }
    stopConnection(socket);
    return false;
  };
}
