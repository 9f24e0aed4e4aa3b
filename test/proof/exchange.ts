import type { Json } from '../photo-reports/documents.ts';

/** Milliseconds within which every request must have a response, during faults too. */
export const DEADLINE_MS = 15_000;

/** Result of one request. */
export interface Exchange {
  operation: string;
  /** Milliseconds since the epoch. */
  begun: number;
  milliseconds: number;
  /** 0 without a response. */
  status: number;
  retryAfter: string | null;
  problem: string;
}

export interface Answer {
  status: number;
  body: Json;
  bytes: Uint8Array;
}

/** Sends requests and records their results. */
export class Exchanges {
  readonly all: Exchange[] = [];
  inFlight = 0;
  mostInFlight = 0;

  async send(operation: string, url: string, init: RequestInit = {}): Promise<Answer> {
    const begun = Date.now();
    const clock = performance.now();
    this.mostInFlight = Math.max(this.mostInFlight, ++this.inFlight);
    const keep = (status: number, retryAfter: string | null, problem: string) =>
      this.all.push({ operation, begun, milliseconds: performance.now() - clock, status, retryAfter, problem });
    try {
      const response = await fetch(url, { ...init, signal: AbortSignal.timeout(2 * DEADLINE_MS) });
      const bytes = new Uint8Array(await response.arrayBuffer());
      const isJson = response.headers.get('content-type')?.startsWith('application/json');
      const text = isJson ? Buffer.from(bytes).toString() : '';
      keep(response.status, response.headers.get('retry-after'), response.ok ? '' : text.slice(0, 200));
      return { status: response.status, body: text ? JSON.parse(text) : null, bytes };
    } catch (error) {
      const { cause, name } = error as Error & { cause?: { code?: string } };
      keep(0, null, cause?.code ?? name);
      return { status: 0, body: null, bytes: new Uint8Array() };
    } finally {
      this.inFlight--;
    }
  }
}

export const countBy = <T>(items: readonly T[], keyOf: (item: T) => string | number): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
};

/** Returns a percentile of the numbers; 0 of none. */
export function percentile(numbers: readonly number[], percent: number): number {
  const sorted = numbers.toSorted((one, other) => one - other);
  return Math.round(sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * percent) / 100))] ?? 0);
}
