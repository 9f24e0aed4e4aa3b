import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** Chunks of a body that may be small. Node calls JavaScript for each: a hundred cost as much as a request. */
const MAX_SMALL_CHUNKS = 100;

/** Average bytes of the chunks of a body that has more. */
const MIN_AVERAGE_BYTES = 32;

/**
 * Calls `stop` once, for a body in so many small chunks that their number costs more than their bytes, and ignores what follows. A listener of
 * `data` would be too late: thousands of chunks are received before it.
 *
 * @param isExcessive Whether the body exceeds another limit, after so many of its bytes.
 */
export function limitChunks(
  message: IncomingMessage,
  stop: () => void,
  isExcessive: (bytes: number) => boolean = () => false,
): void {
  let chunks = 0;
  let bytes = 0;
  let isStopped = false;
  const push = message.push.bind(message);
  message.push = (chunk: Buffer | null, encoding) => {
    // The parser may still find the end of the body, which would make what was received look complete.
    if (isStopped) return false;
    if (chunk === null) return push(chunk, encoding);
    chunks++;
    bytes += chunk.length;
    const areSmall = chunks > MAX_SMALL_CHUNKS && bytes < chunks * MIN_AVERAGE_BYTES;
    if (!areSmall && !isExcessive(bytes)) return push(chunk, encoding);
    isStopped = true;
    stop();
    return false;
  };
}

/** What Node's parser calls for each message, and under an index for each chunk of a body. */
interface Parser {
  onIncoming(message: IncomingMessage): number;
  [index: number]: ((chunk: Buffer) => void) | null;
  constructor: { kOnBody: number };
}

const getParser = (socket: Socket) => (socket as Socket & { parser?: Parser | null }).parser;

/**
 * Ignores the further messages of a connection that is about to be closed. Node reads up to 64 KiB at a time, and has no public interface to
 * stop before their end: they may be 2,500 messages.
 */
function ignoreMessages(socket: Socket): void {
  const parser = getParser(socket);
  if (!parser) return;
  parser.onIncoming = (message) => {
    // Node would give up the connection, and its parser, to who handles the upgrade.
    Object.assign(message, { upgrade: false });
    return 0;
  };
}

/**
 * Ignores the further messages of a connection that is about to be closed, and the chunks of the current one, up to 11,000. Returns what restores the
 * parser: it must be called before Node uses it for another connection.
 */
export function stopParsing(socket: Socket): () => void {
  ignoreMessages(socket);
  const parser = getParser(socket);
  if (!parser) return () => undefined;
  const { kOnBody } = parser.constructor;
  const onBody = parser[kOnBody] ?? null;
  parser[kOnBody] = null;
  return () => {
    parser[kOnBody] = onBody;
  };
}

/** Ignores what else has been read of a connection to a server, and closes it once what was written is sent. */
export function stopConnection(socket: Socket): void {
  // Before Node's own listener, which keeps the parser.
  socket.prependOnceListener('close', stopParsing(socket));
  socket.destroySoon();
}

/** Returns the response that a connection to a server is sending or about to send. Node has no public property for it. */
export const findCurrentResponse = (socket: Socket): ServerResponse | null =>
  (socket as Socket & { _httpMessage?: ServerResponse | null })._httpMessage ?? null;

const TEST_REQUEST = 'POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n';

/** Whether this version of Node has the properties that this file uses, and their effect: a connection is stopped after the first of two requests. */
export function testHttpParser(): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const connection = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  let requests = 0;
  let isFound = false;
  const server = createServer(({ socket }, response) => {
    requests++;
    isFound ||= findCurrentResponse(socket) === response;
    response.end();
    stopConnection(socket);
  });
  // The parser has read all that it had when the next turn of the event loop begins.
  connection.push(TEST_REQUEST.repeat(2));
  Object.assign(connection, { destroySoon: () => setImmediate(() => resolve(isFound && requests === 1)) });
  server.emit('connection', connection);
  return promise.finally(() => connection.destroy());
}
