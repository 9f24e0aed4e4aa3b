import type { Server, Socket } from 'node:net';
import { constants } from 'node:os';
import { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { toNetwork } from '../shared/network.ts';
import { RoundRobinQueue } from '../shared/round-robin-queue.ts';

/** Maximum bytes that are decrypted at a time. A client that sends empty or one-byte records makes them take up to 3 ms. */
const CHUNK_BYTES = 8_192;

/** Milliseconds of decryption in a turn of the event loop, after which the other chunks wait for the next turn. */
const TURN_MS = 2;

/** Milliseconds in which a handshake must be complete. */
const HANDSHAKE_MS = 10_000;

/**
 * Makes a TLS server decrypt in small chunks, a few in each turn of the event loop and of each network address in turn. What a chunk costs is up to
 * the client: a handshake takes up to three milliseconds, and so do hundreds of records without content. Node would decrypt up to 512 KiB of each
 * connection before it turns to anything else. LIM-33.
 */
export function paceTls(server: Server): void {
  const listeners = server.listeners('connection');
  server.removeAllListeners('connection');
  server.on('connection', (socket: Socket) => {
    const connection = new PacedConnection(socket);
    for (const listener of listeners) listener.call(server, connection);
    connection.keepHalfOpen();
  });
  // Before Node's own listener, which serves requests.
  server.prependListener('secureConnection', (secured: TLSSocket) => {
    const wrapper = findWrapper(secured);
    const connection = wrapper.stream;
    closeOnOverlappingWrites(wrapper);
    connection.completeHandshake();
    // A TLS socket over a stream that is no socket of the system has no addresses.
    const { remoteAddress, remotePort, remoteFamily } = connection.socket;
    for (const [name, value] of Object.entries({ remoteAddress, remotePort, remoteFamily })) {
      Object.defineProperty(secured, name, { value });
    }
  });
}

/** Node's `JSStreamSocket`, which adapts a stream to a TLS socket. */
interface StreamWrapper {
  stream: PacedConnection;
  doWrite(request: object, buffers: Buffer[]): number;
}

/** Returns the `JSStreamSocket` of a TLS socket, for which Node has no public property. */
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

/** Connections with received bytes, by network address. Of all servers of the process, because they share one event loop. */
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

/** The encrypted bytes of a connection. Those that its socket has received are passed on in chunks. */
class PacedConnection extends Duplex {
  readonly address: string;
  readonly #deadline = setTimeout(() => this.destroy(), HANDSHAKE_MS).unref();
  #isRequested = false;
  #isWaiting = false;

  constructor(readonly socket: Socket) {
    // Of what arrives while the TLS socket is paused, one chunk is kept here: all of it would be decrypted at once when the socket resumes.
    super({ allowHalfOpen: socket.allowHalfOpen, readableHighWaterMark: CHUNK_BYTES });
    this.address = toNetwork(socket.remoteAddress ?? '');
    socket.on('readable', () => this.#enqueue());
    socket.once('end', () => this.push(null));
    socket.once('close', () => this.destroy());
    // Node closes the connection after its error.
    socket.on('error', () => undefined);
  }

  /** Keeps the connection open after the end of what the client sends. The TLS socket, which has copied the setting, ends it after its last write. */
  keepHalfOpen(): void {
    this.allowHalfOpen = true;
    this.socket.allowHalfOpen = true;
  }

  completeHandshake(): void {
    clearTimeout(this.#deadline);
  }

  decryptChunk(): void {
    this.#isWaiting = false;
    const { socket } = this;
    const chunk = this.destroyed ? null : socket.read(Math.min(CHUNK_BYTES, socket.readableLength));
    if (chunk === null) return;
    // The TLS socket decrypts the chunk before `push` returns, unless it is paused.
    this.#isRequested = this.push(chunk);
    this.#enqueue();
  }

  #enqueue(): void {
    // `read(0)` of an empty stream makes Node emit its `end`.
    if (this.socket.readableLength === 0) this.socket.read(0);
    else if (this.#isRequested && !this.#isWaiting) {
      this.#isWaiting = true;
      enqueue(this);
    }
  }

  override _read(): void {
    this.#isRequested = true;
    this.#enqueue();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.socket.write(chunk, done);
  }

  override _writev(chunks: { chunk: Buffer }[], done: (error?: Error | null) => void): void {
    this.socket.write(Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
  }

  override _final(done: () => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    clearTimeout(this.#deadline);
    this.socket.destroy();
    done(error);
  }
}
