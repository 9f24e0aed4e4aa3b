import type { Socket } from 'node:net';

/** Resolves when the socket has closed. Unlike `once`, it also does when the connection was reset. */
export function untilClosed(socket: Socket): Promise<void> {
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });
}
