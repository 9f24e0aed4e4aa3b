import type { Server, Socket } from 'node:net';
import { constants } from 'node:os';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { toNetwork } from '../shared/network.ts';
import { RoundRobinQueue } from '../shared/round-robin-queue.ts';

/** Bytes that are decrypted at a time. In records of a byte, or of none, they take up to three milliseconds. */
const CHUNK_BYTES = 8_192;

/** Milliseconds of a turn of the event loop after which the next chunk waits for the next turn. */
const TURN_MS = 2;

/** Milliseconds in which a handshake must be complete. */
const HANDSHAKE_MS = 10_000;

/**
 * Lets a server that ends TLS itself decrypt in small chunks, a few in each turn of the event loop and of each network address in turn. What a
 * chunk costs is up to the client: a handshake takes up to three milliseconds, and so do hundreds of records without content. Node would decrypt up
 * to 512 KiB of each connection before it turns to anything else. LIM-33.
 */
export function paceTls(server: Server): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  const deadlines = new WeakMap<Duplex, NodeJS.Timeout>();
  server.on('connection', (received: Socket) => {
    const connection = new PacedConnection(received);
    const deadline = setTimeout(() => connection.destroy(), HANDSHAKE_MS).unref();
    deadlines.set(connection, deadline);
    connection.once('close', () => clearTimeout(deadline));
    for (const listener of listeners) listener.call(server, connection);
  });
  // Before Node's own listener, which serves requests.
  server.prependListener('secureConnection', (socket: TLSSocket) => {
    const wrapper = findWrapper(socket);
    const connection = wrapper.stream;
    closeOnOverlappingWrites(wrapper);
    clearTimeout(deadlines.get(connection));
    const { remoteAddress, remotePort, remoteFamily } = connection.received;
    // Node reads them from the connection only where it decrypts without a stream of our own.
    for (const [name, value] of Object.entries({ remoteAddress, remotePort, remoteFamily })) {
      Object.defineProperty(socket, name, { value });
    }
  });
}

/** What Node puts between a TLS socket and a stream that is no socket of the system. */
interface StreamWrapper {
  stream: PacedConnection;
  doWrite(request: object, buffers: Buffer[]): number;
}

/** Node has no public property for it. */
function findWrapper(socket: TLSSocket): StreamWrapper {
  return (socket as unknown as { _handle: { _parentWrap: StreamWrapper } })._handle._parentWrap;
}

/**
 * Closes a connection where OpenSSL has something to send itself, the response to a `KeyUpdate` or an alert, while an empty write or the end of the
 * connection is in progress. Node asserts that writes do not overlap, which would end the process.
 */
function closeOnOverlappingWrites(wrapper: StreamWrapper): void {
  const { stream, doWrite } = wrapper;
  wrapper.doWrite = (request, buffers) => {
    try {
      return doWrite.call(wrapper, request, buffers);
    } catch {
      stream.destroy();
      return -constants.errno.EPIPE;
    }
  };
}

/** Connections with received bytes that wait to be decrypted, by network address. Of the process, because they share one event loop. */
const waiting = new RoundRobinQueue<PacedConnection>();
let isScheduled = false;

function enqueue(connection: PacedConnection): void {
  waiting.add(connection.address, connection);
  schedule();
}

function schedule(): void {
  if (isScheduled) return;
  isScheduled = true;
  setImmediate(() => {
    isScheduled = false;
    const end = performance.now() + TURN_MS;
    do waiting.take()?.decryptChunk();
    while (waiting.size > 0 && performance.now() < end);
    if (waiting.size > 0) schedule();
  });
}

/** The encrypted bytes of a connection. Those that were received are passed on in chunks, when it is their turn. */
class PacedConnection extends Duplex {
  readonly address: string;
  #isRequested = false;
  #isWaiting = false;

  constructor(readonly received: Socket) {
    super({ allowHalfOpen: received.allowHalfOpen });
    this.address = toNetwork(received.remoteAddress ?? '');
    received.on('readable', () => this.#wait());
    received.once('end', () => this.push(null));
    received.once('close', () => this.destroy());
    // Node closes the connection after its error.
    received.on('error', () => undefined);
  }

  decryptChunk(): void {
    this.#isWaiting = false;
    const { received } = this;
    const chunk = this.destroyed ? null : received.read(Math.min(CHUNK_BYTES, received.readableLength));
    if (chunk === null) return;
    // Whoever reads this stream decrypts the chunk before `push` returns.
    this.#isRequested = this.push(chunk);
    this.#wait();
  }

  #wait(): void {
    // Its end is reported only where a stream without bytes is read once more.
    if (this.received.readableLength === 0) this.received.read(0);
    else if (this.#isRequested && !this.#isWaiting) {
      this.#isWaiting = true;
      enqueue(this);
    }
  }

  override _read(): void {
    this.#isRequested = true;
    this.#wait();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.received.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.received.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.received.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.received.destroy();
    done(error);
  }
}
