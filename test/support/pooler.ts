import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Startup parameters that the pooler forwards. It drops all others, as PgBouncer does with `ignore_startup_parameters`. */
const ALLOWED_PARAMETERS = ['user', 'database', 'client_encoding', 'application_name'];

/** Types of the frontend messages whose response ends with ReadyForQuery: Query and Sync. */
const CYCLE_MESSAGES = new Set(['Q', 'S']);
const TERMINATE = 'X';
const READY_FOR_QUERY = 'Z';
const IDLE = 'I';

/** A session of PostgreSQL, and the client that it serves now. */
interface Session {
  socket: Socket;
  client: Client | null;
}

interface Client {
  socket: Socket;
  session: Session | null;
  /** Query cycles without a complete response. */
  cycles: number;
  /** Messages that wait for a session. */
  waiting: Buffer[];
}

/**
 * A connection pooler in front of PostgreSQL that drops session options. `session` assigns a session to each client until it
 * disconnects, `transaction` until its transaction ends, as PgBouncer's pool modes do. Every client logs in to a session of its own, which
 * stays open for other clients.
 */
export class Pooler {
  readonly #server: Server;
  readonly #idle: Session[] = [];
  readonly #sockets = new Set<Socket>();
  readonly #waiting: Client[] = [];

  private constructor(
    readonly url: string,
    server: Server,
  ) {
    this.#server = server;
  }

  static async start(url: string, mode: 'session' | 'transaction'): Promise<Pooler> {
    // Messages are written one by one, which would wait for one another's acknowledgement.
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const here = new URL(url);
    here.port = String((server.address() as AddressInfo).port);
    const pooler = new Pooler(here.href, server);
    const { hostname, port } = new URL(url);
    server.on('connection', (socket) => {
      const session: Session = { socket: connect({ port: Number(port), host: hostname, noDelay: true }), client: null };
      for (const end of [socket, session.socket]) pooler.#track(end);
      if (mode === 'session') forwardWithoutOptions(socket, session.socket);
      else pooler.#serve(socket, session);
    });
    return pooler;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => this.#sockets.delete(socket));
  }

  #serve(socket: Socket, session: Session): void {
    // The login counts as the first cycle: it ends with ReadyForQuery too.
    const client: Client = { socket, session, cycles: 1, waiting: [] };
    session.client = client;
    const fromClient = new MessageReader(0);
    const fromServer = new MessageReader(1);
    let isLoggedIn = false;
    socket.on('data', (chunk) => {
      for (const message of fromClient.read(chunk)) {
        if (!isLoggedIn) session.socket.write(withoutOptions(message, fromClient));
        else if (typeOf(message) !== TERMINATE) this.#send(client, message);
      }
    });
    socket.on('close', () => this.#disconnect(client));
    session.socket.on('data', (chunk) => {
      for (const message of fromServer.read(chunk)) {
        const { client: served } = session;
        served?.socket.write(message);
        if (typeOf(message) !== READY_FOR_QUERY) continue;
        isLoggedIn = true;
        if (served) served.cycles--;
        if (String.fromCharCode(message[5]!) === IDLE && !(served && served.cycles > 0)) this.#release(session);
      }
    });
    session.socket.on('close', () => socket.destroy());
  }

  #send(client: Client, message: Buffer): void {
    if (!client.session) {
      const session = this.#idle.pop();
      if (!session) {
        if (client.waiting.push(message) === 1) this.#waiting.push(client);
        return;
      }
      this.#assign(session, client);
    }
    if (CYCLE_MESSAGES.has(typeOf(message))) client.cycles++;
    client.session!.socket.write(message);
  }

  #assign(session: Session, client: Client): void {
    session.client = client;
    client.session = session;
  }

  #release(session: Session): void {
    if (session.client) session.client.session = null;
    session.client = null;
    const next = this.#waiting.shift();
    if (!next) {
      this.#idle.push(session);
      return;
    }
    this.#assign(session, next);
    for (const message of next.waiting.splice(0)) this.#send(next, message);
  }

  /** Closes a session in a transaction together with its client. An idle session stays, with its settings and session locks. */
  #disconnect(client: Client): void {
    client.session?.socket.destroy();
  }
}

const typeOf = (message: Buffer): string => String.fromCharCode(message[0]!);

/** Splits a stream of protocol messages. The first message of a client, its startup message, has no type. */
class MessageReader {
  #rest: Buffer = Buffer.alloc(0);
  #typeLength: number;
  isStartup = false;

  constructor(typeLength: 0 | 1) {
    this.#typeLength = typeLength;
  }

  *read(chunk: Buffer): Generator<Buffer> {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= this.#typeLength + 4) {
      const end = this.#typeLength + this.#rest.readUInt32BE(this.#typeLength);
      if (this.#rest.length < end) return;
      const message = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      this.isStartup = this.#typeLength === 0;
      this.#typeLength = 1;
      yield message;
    }
  }
}

function withoutOptions(message: Buffer, reader: MessageReader): Buffer {
  if (!reader.isStartup) return message;
  const words = message.subarray(8).toString().split('\0');
  const kept: string[] = [];
  for (let at = 0; at + 1 < words.length && words[at]; at += 2) {
    if (ALLOWED_PARAMETERS.includes(words[at]!)) kept.push(words[at]!, words[at + 1]!);
  }
  const body = Buffer.from(`${kept.map((word) => `${word}\0`).join('')}\0`);
  const head = Buffer.from(message.subarray(0, 8));
  head.writeUInt32BE(8 + body.length);
  return Buffer.concat([head, body]);
}

function forwardWithoutOptions(client: Socket, server: Socket): void {
  const reader = new MessageReader(0);
  client.on('data', (chunk) => {
    for (const message of reader.read(chunk)) server.write(withoutOptions(message, reader));
  });
  server.on('data', (chunk) => client.write(chunk));
  client.on('close', () => server.destroy());
  server.on('close', () => client.destroy());
}
