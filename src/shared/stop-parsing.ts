import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';

/** Chunks of a chunked body that may be small. Node calls JavaScript for each of them: a hundred cost as much as a request. */
const SMALL_CHUNKS = 100;

/** Average bytes of the chunks of a body that has more. */
const MIN_CHUNK_BYTES = 32;

/** Whether a body is sent in so many chunks that their number costs more than their bytes. */
export const areChunksSmall = (chunks: number, bytes: number): boolean =>
  chunks > SMALL_CHUNKS && bytes < chunks * MIN_CHUNK_BYTES;

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
