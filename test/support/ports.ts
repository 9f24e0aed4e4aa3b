import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux gives to connections and to listeners without one, which could take the port before its use; above those that `fetch` refuses. */
const [FIRST, LAST] = [12_000, 32_767];

/** Returns a free port. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
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
