/**
 * Begins TLS handshakes at a rate, from another address of this machine than other clients: `handshake-flood.js PORT SECONDS`. Prints how many
 * ended.
 */
import { connect } from 'node:tls';

const HANDSHAKES_PER_SECOND = 400;
const INTERVAL_MS = 10;

const [port, seconds] = process.argv.slice(2).map(Number);
let completed = 0;
setInterval(() => {
  for (let count = 0; count < (HANDSHAKES_PER_SECOND * INTERVAL_MS) / 1000; count++) {
    const options = { host: '127.0.0.1', localAddress: '127.0.0.2', rejectUnauthorized: false };
    const socket = connect({ port, ...options }, () => {
      completed++;
      socket.destroy();
    });
    socket.on('error', () => undefined);
  }
}, INTERVAL_MS);
setTimeout(() => {
  process.stdout.write(String(completed));
  process.exit();
}, seconds! * 1000);
