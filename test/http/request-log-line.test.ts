import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createBuilderClient } from '../support/builder-client.ts';
import { type Service, startService } from '../support/harness.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';

const lines: { traceId?: string; requestId?: string; cost?: number }[] = [];
let service: Service;

beforeAll(async () => {
  vi.spyOn(process.stdout, 'write').mockImplementation((data) => {
    for (const line of String(data).split('\n')) if (line.startsWith('{')) lines.push(JSON.parse(line));
    return true;
  });
  service = await startService({ LOG_LEVEL: 'info' });
  const { builderId, token } = await createBuilderClient(service, 'A');
  const send = (requestId: string, traceparent: string) =>
    service.get(`/builders/${builderId}/projects`, token, { traceparent, 'x-request-id': requestId });
  await send('traced-request', `00-${TRACE_ID}-b7ad6b7169203331-01`);
  await send('untraced-request', `${TRACE_ID}-none`);
  vi.restoreAllMocks();
});

afterAll(() => service.stop());

const findLine = (requestId: string) => lines.find((line) => line.requestId === requestId)!;

describe('the log line of a request', () => {
  it('has its operation, integrator, duration and cost', () => {
    const line = findLine('traced-request');
    expect(line).toMatchObject({ method: 'GET', route: '/builders/:id/projects', status: 200, operation: 'projects' });
    expect(line).toMatchObject({ integratorId: expect.stringMatching(/^intg_/), milliseconds: expect.any(Number) });
    expect(line.cost).toBeGreaterThan(0);
  });

  it('has the id of the trace that the caller sends', () => {
    expect(findLine('traced-request').traceId).toBe(TRACE_ID);
  });

  it('has no id of a trace for another header', () => {
    expect(findLine('untraced-request')).not.toHaveProperty('traceId');
  });
});
