import { Agent, type ClientRequest, request as createRequest, type IncomingMessage } from 'node:http';

export interface HttpRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Network address of this machine that the request is sent from. */
  localAddress?: string;
}

export interface HttpResponse {
  /** 0 without a complete response. */
  status: number;
  milliseconds: number;
  body: string;
  /** Bytes of the body. */
  size: number;
  /** Error code without a complete response; empty otherwise. */
  error: string;
}

interface HttpClientOptions {
  /** Maximum connections. Further requests wait. */
  connections: number;
  localAddress?: string;
  timeoutMs?: number;
  /** Maximum bytes of a body that are returned, in whole chunks. All are received. */
  keepBytes?: number;
}

/** Sends requests over keep-alive connections from one network address. `send` never rejects. */
export class HttpClient {
  readonly #agent: Agent;
  readonly #inFlight = new Set<ClientRequest>();
  readonly #options: Required<HttpClientOptions>;
  readonly #origin: URL;

  constructor(origin: string, options: HttpClientOptions) {
    this.#origin = new URL(origin);
    this.#options = { localAddress: '127.0.0.1', timeoutMs: 60_000, keepBytes: 1_000_000, ...options };
    this.#agent = new Agent({ keepAlive: true, maxSockets: options.connections });
  }

  /** @param isFresh Whether to open a new connection for this request. */
  send(request: HttpRequest, isFresh = false): Promise<HttpResponse> {
    const { timeoutMs, keepBytes, localAddress } = this.#options;
    const { method = 'GET', path, headers = {}, body } = request;
    const begun = performance.now();
    return new Promise((resolve) => {
      let size = 0;
      let kept = 0;
      const chunks: Buffer[] = [];
      const finish = (status: number, error = '') => {
        clearTimeout(timer);
        this.#inFlight.delete(call);
        const milliseconds = performance.now() - begun;
        resolve({ status, milliseconds, size, error, body: Buffer.concat(chunks).toString() });
      };
      const receive = (response: IncomingMessage) => {
        response.on('data', (chunk: Buffer) => {
          size += chunk.length;
          if (kept >= keepBytes) return;
          chunks.push(chunk);
          kept += chunk.length;
        });
        response.on('end', () => (response.complete ? finish(response.statusCode!) : finish(0, 'INCOMPLETE')));
        response.on('error', (error: NodeJS.ErrnoException) => finish(0, error.code ?? error.message));
      };
      const call = createRequest(
        {
          ...{ host: this.#origin.hostname, port: this.#origin.port, method, path },
          agent: isFresh ? false : this.#agent,
          localAddress: request.localAddress ?? localAddress,
          headers: { ...headers, ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }) },
        },
        receive,
      );
      const timer = setTimeout(() => call.destroy(new Error('TIMEOUT')), timeoutMs);
      call.on('error', (error: NodeJS.ErrnoException) => finish(0, error.code ?? error.message));
      this.#inFlight.add(call);
      call.end(body);
    });
  }

  /** Ends every request and connection. */
  close(): void {
    for (const call of this.#inFlight) call.destroy();
    this.#agent.destroy();
  }
}
