import type { Json } from '../photo-reports/documents.ts';

/** Milliseconds within which every request must have a response, during faults too. */
export const DEADLINE_MS = 15_000;

/** Result of one request. */
export interface RecordedRequest {
  operation: string;
  /** Milliseconds since the epoch. */
  begun: number;
  milliseconds: number;
  /** 0 without a response. */
  status: number;
  retryAfter: string | null;
  problem: string;
}

export interface ParsedResponse {
  status: number;
  body: Json;
  bytes: Uint8Array;
}

/** Sends requests and records the result of each. */
export class RequestRecorder {
  readonly requests: RecordedRequest[] = [];
  inFlight = 0;
  mostInFlight = 0;

  async send(operation: string, url: string, init: RequestInit = {}): Promise<ParsedResponse> {
    const begun = Date.now();
    const clock = performance.now();
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    const record = (status: number, retryAfter: string | null, problem: string) =>
      this.requests.push({ operation, begun, milliseconds: performance.now() - clock, status, retryAfter, problem });
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(2 * DEADLINE_MS) });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      const text = isJson ? Buffer.from(bytes).toString() : '';
      record(response.status, response.headers.get('retry-after'), response.ok ? '' : text.slice(0, 200));
      return { status: response.status, body: text ? JSON.parse(text) : null, bytes };
    } catch (error) {
      const { cause, name } = error as Error & { cause?: { code?: string } };
      record(0, null, cause?.code ?? name);
      return { status: 0, body: null, bytes: new Uint8Array() };
    } finally {
      this.inFlight--;
    }
  }
}
