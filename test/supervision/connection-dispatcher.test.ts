import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionDispatcher } from '../../src/supervision/connection-dispatcher.ts';
import { freePort } from '../support/ports.ts';

/** Has no worker, so that every connection waits. */
let dispatcher: ConnectionDispatcher;
let port: number;
const sockets: Socket[] = [];

beforeEach(async () => {
  dispatcher = new ConnectionDispatcher(8);
  port = await freePort();
  await dispatcher.listen('127.0.0.1', port);
});

afterEach(() => {
  dispatcher.close();
  for (const socket of sockets.splice(0)) socket.destroy();
});

/** Opens that many connections from an address, and returns a function that counts those that were closed. */
function open(localAddress: string, count: number): () => number {
  let closed = 0;
  for (let at = 0; at < count; at++) {
    const socket = connect({ host: '127.0.0.1', port, localAddress });
    socket.on('error', () => undefined).on('close', () => closed++);
    sockets.push(socket.resume());
  }
  return () => closed;
}

describe('more connections than may wait for a worker', () => {
  it('close connections of the address that has the most, not the next one of another address', async () => {
    const countClosedOfMany = open('127.0.0.1', 10);
    await expect.poll(countClosedOfMany).toBe(2);
    const countClosedOfFew = open('127.0.0.2', 3);
    await expect.poll(countClosedOfMany).toBe(5);
    expect(countClosedOfFew()).toBe(0);
  });
});
