import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { API_VERSION } from '../../schema/rest.ts';
import { findCurrentResponse } from '../node-internals/http-parser.ts';
import { ApiError, invalidField } from '../shared/errors.ts';

/** Errors of the parser, of Node's time limits and of `limitParsing`. After any other one nothing can be sent. */
const HTTP_ERROR_CODES = /^(HPE_|ERR_HTTP_|SMALL_CHUNKS$)/;

/** Node's `clientError` handler: sends a documented error for bytes that are no valid request, for which no hook runs. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // In the middle of an earlier response the error would look like a part of its body.
  const isResponding = findCurrentResponse(socket)?.headersSent;
  if (!HTTP_ERROR_CODES.test(error.code ?? '') || !socket.writable || isResponding) {
    socket.destroy();
    return;
  }
  const clientError = toClientError(error.code);
  const { status } = clientError;
  const body = JSON.stringify(clientError.body());
  const headers = {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'X-Request-Id': randomUUID(),
    'X-Service-Api-Version': API_VERSION,
    Connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`);
}

export const headersTooLarge = (message: string) => new ApiError('HEADERS_TOO_LARGE', message);

function toClientError(code: string | undefined): ApiError {
  if (code === 'HPE_HEADER_OVERFLOW') return headersTooLarge('The headers are too large.');
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return new ApiError('REQUEST_TIMEOUT', 'The request took too long.');
  if (code === 'SMALL_CHUNKS') return invalidField('body', 'must not be sent in many small chunks');
  return invalidField('request', 'must be valid HTTP/1.1');
}
