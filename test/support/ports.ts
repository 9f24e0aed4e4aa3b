import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below Linux's ephemeral ports (from 32768), which another socket could be given before the port is used, and above the ports that
 * `fetch` blocks (to 10080).
 */
const [FIRST_PORT, LAST_PORT] = [12_000, 32_767];

/** Returns a free port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * (LAST_PORT - FIRST_PORT + 1));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
