import { pino } from 'pino';
import { expect, it } from 'vitest';
import { formatLogLine } from '../../src/http/metrics/readable-log.ts';

/** Returns what the logger writes for a person. */
function collectLines(write: (log: pino.Logger) => void): string {
  let text = '';
  const stream = { write: (line: string) => (text += formatLogLine(line).replace(/^\d\d:\d\d:\d\d/, 'TIME')) };
  write(pino({ timestamp: pino.stdTimeFunctions.epochTime }, stream as unknown as pino.DestinationStream));
  return text;
}

it('is one short line for a request', () => {
  const request = { method: 'GET', path: '/timesheets', route: '/timesheets', status: 200, milliseconds: 3 };
  const more = { requestId: 'req-1', clientId: 'cli_a', address: '127.0.0.1', operation: undefined };
  expect(collectLines((log) => log.info({ ...request, ...more }, 'request'))).toBe('TIME GET /timesheets 200 3 ms\n');
});

it('has the plain values of other lines, and the stack of an error', () => {
  const values = { region: 'au1', settings: { port: 4000 }, count: 3 };
  expect(collectLines((log) => log.info(values, 'swept'))).toBe('TIME swept region=au1 count=3\n');
  const text = collectLines((log) => log.error({ err: new Error('lost') }, 'number events failed'));
  expect(text).toMatch(/^TIME ERROR number events failed\nError: lost\n {4}at .*\n/);
});

it('shows no control characters of a client', () => {
  const values = { method: 'GET', path: '/a\u001b[2J\nb', status: 404, milliseconds: 1 };
  const text = collectLines((log) => log.info(values, 'request'));
  expect(text).not.toContain('\u001b');
  expect(text.trimEnd()).not.toContain('\n');
});
