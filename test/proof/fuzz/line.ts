import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import type { Answer } from './contract.ts';
import { chance, type Draw, hostileText, number, pick } from './values.ts';
import type { Sent, World } from './world.ts';

/** Requests that HTTP clients never send, as bytes. */
export interface Bytes {
  bytes: Buffer;
}

/** Connections that are kept alive, like those of an integrator's server. */
export class Line {
  readonly #origin: URL;
  readonly #agent: Agent;

  constructor(origin: string, connections: number) {
    this.#origin = new URL(origin);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Null where the server closes the connection without a response. */
  async send({ method, url, headers, body }: Sent): Promise<Answer | null> {
    const { hostname, port } = this.#origin;
    const length = body ? { 'Content-Length': String(body.length) } : {};
    for (let attempt = 1; ; attempt++) {
      try {
        return await new Promise<Answer>((answered, failed) => {
          const target = { hostname, port, agent: this.#agent, method, path: url, headers: { ...headers, ...length } };
          // A redirect repeats the sent text in encoded form.
          const options = { ...target, maxHeaderSize: 128 * 1024 };
          const sending = request(options, (response) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk) => chunks.push(chunk));
            response.on('error', failed);
            response.on('end', () => {
              answered({ status: response.statusCode!, headers: response.headers, body: Buffer.concat(chunks) });
            });
          });
          sending.setTimeout(30_000, () => sending.destroy(new Error('no answer within 30 seconds')));
          sending.on('error', failed);
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
  async sendBytes({ bytes }: Bytes): Promise<{ status: number; text: string } | null> {
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
export function bareRequest(draw: Draw, { tokens }: World): Bytes {
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
    `Authorization: Bearer ${tokens.usual}`,
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
      `Cookie: ${'a=b; '.repeat(number(draw, 5_000))}`,
      ' X-Folded: a\r\n b',
    ]),
  ];
  const body = pick(draw, ['', '', 'x', '5\r\nhello\r\n0\r\n\r\n', 'zz\r\n', hostile]);
  return { bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, chance(draw, 50) ? 'utf8' : 'latin1') };
}
