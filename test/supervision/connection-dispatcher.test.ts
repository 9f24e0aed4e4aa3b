import type { Worker } from 'node:cluster';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ConnectionDispatcher } from '../../src/supervision/connection-dispatcher.ts';
import { freePort } from '../support/ports.ts';

/** Has no worker at first, so that every connection waits. */
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

describe('a connection that a worker cannot receive', () => {
  /** A worker that counts what it is sent. */
  const createWorker = () => {
    const worker = { received: 0, send: () => void worker.received++ };
    return worker;
  };
  const asWorker = (worker: object) => worker as unknown as Worker;

  it('is sent to the next free worker, and to the same one not before it is tried again', async () => {
    const [one, other] = [createWorker(), createWorker()];
    dispatcher.add(asWorker(one));
    const countClosed = open('127.0.0.1', 1);
    await expect.poll(() => one.received).toBe(1);
    dispatcher.refused(asWorker(one));
    dispatcher.add(asWorker(other));
    expect([one.received, other.received]).toEqual([1, 1]);
    dispatcher.refused(asWorker(other));
    dispatcher.retry(asWorker(one));
    expect([one.received, other.received]).toEqual([2, 1]);
    dispatcher.accepted(asWorker(one));
    // Of an accepted connection, this process closes its own descriptor, which is the only one here.
    await expect.poll(countClosed).toBe(1);
  });

  it('makes no worker free that has been sent none, or has ended', async () => {
    const [standby, ended] = [createWorker(), createWorker()];
    dispatcher.refused(asWorker(standby));
    dispatcher.retry(asWorker(standby));
    dispatcher.add(asWorker(ended));
    open('127.0.0.1', 1);
    await expect.poll(() => ended.received).toBe(1);
    dispatcher.refused(asWorker(ended));
    dispatcher.remove(asWorker(ended));
    dispatcher.retry(asWorker(ended));
    expect([standby.received, ended.received]).toEqual([0, 1]);
  });
});
