import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { describeStartError } from '../../src/start-error.ts';

/** Returns the line of a start that cannot listen there. */
const listen = (port: number, host: string) =>
  new Promise<string>((resolve) => {
    const server = createServer().once('error', (error) => resolve(describeStartError(error)));
    server.listen(port, host, () => server.close(() => resolve('listens')));
  });

describe('a start that cannot listen', () => {
  it.each(['host.invalid', '192.0.2.1'])('at %s ends with one line that names HOST and the value', async (host) => {
    expect(await listen(0, host)).toBe(`HOST must be an address or name of this machine, and ${host} is not.`);
  });

  it('at a port in use ends with one line that names PORT', async () => {
    const other = createServer();
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => resolve((other.address() as { port: number }).port));
    });
    expect(await listen(port, '127.0.0.1')).toBe(`Port ${port} is in use: set PORT to another one.`);
    other.close();
  });
});
