import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { ReceivedResponse } from './contract.ts';
import type { FuzzFixture, GeneratedRequest } from './fuzz-fixture.ts';
import { chance, type Draw, hostileText, pick, randomInteger } from './random-values.ts';

/** The bytes of a request that HTTP clients never send. */
export interface RawRequest {
  bytes: Buffer;
}

/** Sends requests over keep-alive connections, like the server of an integrator. */
export class FuzzClient {
  readonly #origin: URL;
  readonly #agent: Agent;

  constructor(origin: string, connections: number) {
    this.#origin = new URL(origin);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Sends a request. Returns null if the server closes the connection without a response. */
  async send({ method, url, headers, body }: GeneratedRequest): Promise<ReceivedResponse | null> {
    const { hostname, port } = this.#origin;
    const length = body ? { 'Content-Length': String(body.length) } : {};
    for (let attempt = 1; ; attempt++) {
      try {
        return await new Promise<ReceivedResponse>((resolve, reject) => {
          const target = { hostname, port, agent: this.#agent, method, path: url, headers: { ...headers, ...length } };
          // A redirect repeats the sent text in encoded form.
          const options = { ...target, maxHeaderSize: 128 * 1024 };
          const sending = request(options, (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk) => chunks.push(chunk));
            response.on('error', reject);
            response.on('end', () => {
              resolve({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
            });
          });
          sending.setTimeout(30_000, () => sending.destroy(new Error('no answer within 30 seconds')));
          sending.on('error', reject);
          sending.end(body);
        });
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        // The server has just closed the connection, or has rejected the body without reading it.
        if (code !== 'ECONNRESET' && code !== 'EPIPE') throw error;
        if (attempt === 3) return null;
      }
    }
  }

  /** Sends bytes. Returns the status and the whole response; null for a closed connection. */
  async sendBytes({ bytes }: RawRequest): Promise<{ status: number; text: string } | null> {
    const { hostname, port } = this.#origin;
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.on('error', () => undefined);
    socket.setTimeout(10_000, () => socket.destroy());
    socket.end(bytes);
    await once(socket, 'close');
    const status = /^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1];
    return status === undefined ? null : { status: Number(status), text };
  }

  close(): void {
    this.#agent.destroy();
  }
}

/** Returns a request with lines that an HTTP client would reject. */
export function generateRawRequest(draw: Draw, { tokens }: FuzzFixture): RawRequest {
  const hostile = hostileText(draw).slice(0, 20_000);
  const lines = [
    pick(draw, [
      'GET /builders HTTP/1.1',
      'GET /builders HTTP/1.1',
      `GET /${hostile} HTTP/1.1`,
      'GET  /builders',
      'POST /oauth/token HTTP/1.1',
    ]),
    chance(draw, 80) ? 'Host: localhost' : `Host: ${hostile}`,
    `Authorization: Bearer ${tokens.authorized}`,
    'Connection: close',
    pick(draw, [
      `X-Request-Id: ${hostile}`,
      `X-Service-Builder-Id: ${hostile}`,
      `Origin: ${hostile}`,
      `${hostile}: x`,
      'Content-Length: -1',
      'Content-Length: 5\r\nContent-Length: 6',
      'Transfer-Encoding: chunked\r\nContent-Length: 5',
      'Transfer-Encoding: chunked, chunked',
      'X-Service-Region-Id: au1\r\nX-Service-Region-Id: us1',
      'Authorization: Bearer x',
      `Cookie: ${'a=b; '.repeat(randomInteger(draw, 5_000))}`,
      ' X-Folded: a\r\n b',
    ]),
  ];
  const body = pick(draw, ['', '', 'x', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\n', hostile]);
  return { bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, chance(draw, 50) ? 'utf8' : 'latin1') };
}
