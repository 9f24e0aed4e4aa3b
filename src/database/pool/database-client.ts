import pg from 'pg';

/** Milliseconds without a packet after which a host is probed. One that is down loses its connections some ten seconds later. */
const KEEP_ALIVE_MS = 10_000;

/** pg's client with the detection of lost hosts. */
export class DatabaseClient extends pg.Client {
  constructor(config: pg.ClientConfig) {
    super({ keepAlive: true, keepAliveInitialDelayMillis: KEEP_ALIVE_MS, ...config });
    // The current or next statement reports a lost connection. pg's pool listens only after `connect`, and the server's last message may be
    // in the packet that completes it: without a listener it would end the process.
    this.on('error', () => undefined);
  }
}
