import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type HttpRequest, type HttpResponse } from './http-client.ts';
import type { Attacker, ClientAccount, Scenario } from './scenario.ts';

/** Requests with which an integrator may slow down another one. */
export interface Attack {
  name: string;
  /** Description for the documentation. */
  about: string;
  /** Number of the security finding that the attack repeats. */
  finding?: string;
  /** Whether the quick run includes it. */
  short?: boolean;
  /** Settings of the service in this case. */
  settings?: Record<string, string>;
  run(session: AttackSession): Promise<unknown>;
}

/** Message from the proof to the process of the attackers. */
export interface AttackOrder {
  name: string;
  origin: string;
  baseUrl: string;
  scenario: Scenario;
  milliseconds: number;
}

/** Message to the proof: the responses that the attackers received. */
export interface AttackResult {
  /** Responses by status; 0 for none. */
  statuses: Record<string, number>;
  megabytes: number;
  /** Errors of the attack itself; empty without any. */
  problem: string;
}

/** Connections and counters of one attack, in the process of the attackers. */
export class AttackSession {
  readonly statuses: Record<string, number> = {};
  bytes = 0;
  readonly #clients: HttpClient[] = [];
  readonly #sockets: Socket[] = [];
  readonly #end: number;

  constructor(readonly order: AttackOrder) {
    this.#end = performance.now() + order.milliseconds;
  }

  get scenario(): Scenario {
    return this.order.scenario;
  }

  get attacker(): Attacker {
    return this.scenario.attackers[0]!;
  }

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Resolves at the end of the attack. */
  waitForEnd(): Promise<void> {
    return new Promise((done) => setTimeout(done, Math.max(0, this.#end - performance.now())));
  }

  client(connections: number, keepBytes = 0): HttpClient {
    const client = new HttpClient(this.order.origin, { connections, keepBytes, timeoutMs: 120_000 });
    this.#clients.push(client);
    return client;
  }

  /** Sends the requests that `make` returns over that many connections without pauses, until the attack is over. */
  async flood(connections: number, make: (number: number) => HttpRequest): Promise<void> {
    const client = this.client(connections);
    let number = 0;
    const work = async () => {
      while (!this.isOver) await this.send(client, make(number++));
    };
    await Promise.all(Array.from({ length: connections }, work));
  }

  /** Sends a request that prepares the attack. It is repeated while the budgets that an earlier attack used up reject it. */
  async prepare(client: HttpClient, request: HttpRequest): Promise<HttpResponse> {
    for (;;) {
      const response = await this.send(client, request);
      if (response.status !== 429 || this.isOver) return response;
      await sleep(500);
    }
  }

  async send(client: HttpClient, request: HttpRequest): Promise<HttpResponse> {
    const response = await client.send(request);
    this.count(response.status);
    this.bytes += response.size;
    return response;
  }

  count(status: number | string): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1;
  }

  /** Opens a raw connection and sends the text. Errors and the end of the connection are ignored. */
  openSocket(text: string, localAddress = '127.0.0.1'): Socket {
    const { hostname, port } = new URL(this.order.origin);
    const socket = connect({ host: hostname, port: Number(port), localAddress });
    socket.on('error', () => undefined);
    socket.write(text);
    this.#sockets.push(socket);
    return socket;
  }

  close(): void {
    for (const client of this.#clients) client.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}

const JSON_TYPE = { 'content-type': 'application/json' };

/** Returns one of the attacker's clients, in rotation. */
export const clientAt = ({ clients }: Attacker, number: number): ClientAccount => clients[number % clients.length]!;

export function get(attacker: Attacker, number: number, path: string): HttpRequest {
  const { token } = clientAt(attacker, number);
  return { path, headers: { authorization: `Bearer ${token}`, 'x-service-builder-id': attacker.builderId } };
}

export function post(attacker: Attacker, number: number, path: string, body: object | string): HttpRequest {
  const { headers } = get(attacker, number, path);
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { method: 'POST', path, headers: { ...headers, ...JSON_TYPE }, body: text };
}

export const graphql = (attacker: Attacker, number: number, query: string, variables: object = {}): HttpRequest =>
  post(attacker, number, '/graphql', { query, variables });

/** Returns the field under that many aliases: `a0: id a1: id …`. */
export const aliases = (count: number, field: string): string =>
  Array.from({ length: count }, (_, at) => `a${at}: ${field}`).join(' ');

/** Returns the request as text for a raw connection. */
export function toText({ method = 'GET', path, headers = {}, body = '' }: HttpRequest): string {
  const length = Buffer.byteLength(body);
  const lines = [`${method} ${path} HTTP/1.1`, 'host: localhost', `content-length: ${length}`];
  for (const [name, value] of Object.entries(headers)) lines.push(`${name}: ${value}`);
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
