import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import { readSecretFile } from '../../config/read-secret-file.ts';
import { type Config, ConfigError } from '../../config.ts';
import { limitConnections } from './connections.ts';
import { limitParsing } from './parsing-limits.ts';

/** Milliseconds within which the headers of a request must arrive. LIM-23. */
const HEADERS_TIMEOUT_MS = 60_000;

/** Milliseconds without traffic after which a connection is closed. LIM-23. */
const IDLE_TIMEOUT_MS = 120_000;

/** Milliseconds in which a TLS handshake must be complete. */
const HANDSHAKE_TIMEOUT_MS = 10_000;

/** Milliseconds for which a connection is kept after a response: longer than proxies keep theirs. */
const KEEP_ALIVE_MS = 72_000;

/**
 * Returns a function that creates the server with the limits of its connections. Without one, Fastify opens a second server for the other address
 * of `localhost`, which has none of them.
 */
export const createServerFactory =
  ({ tls, requestSeconds }: Pick<Config, 'tls' | 'requestSeconds'>) =>
  (handler: RequestListener) => {
    // Node would answer a request without the header itself, with 400, and as many as a connection sends.
    const requireHostHeader = false;
    const server = tls
      ? createHttpsServer({ ...readCertificate(tls), handshakeTimeout: HANDSHAKE_TIMEOUT_MS, requireHostHeader })
      : createHttpServer({ requireHostHeader });
    server.on('request', limitConnections(server, handler, 2_000 * requestSeconds));
    // An upload of 40 MiB over a slow connection takes minutes. Connections without traffic are closed earlier.
    server.requestTimeout = requestSeconds * 1000;
    // Node exchanges the two limits where the one of the headers is longer.
    server.headersTimeout = Math.min(HEADERS_TIMEOUT_MS, server.requestTimeout);
    server.keepAliveTimeout = KEEP_ALIVE_MS;
    server.setTimeout(IDLE_TIMEOUT_MS);
    limitParsing(server);
    return server;
  };

/** Reads the files that the settings name. Throws `ConfigError` unless they have a certificate and its key. */
function readCertificate(tls: NonNullable<Config['tls']>) {
  const certificate = { cert: readPem('TLS_CERT', tls.cert), key: readPem('TLS_KEY', tls.key) };
  try {
    createSecureContext(certificate);
  } catch (error) {
    const message = `must be the key of TLS_CERT, both in PEM and without a passphrase (${(error as NodeJS.ErrnoException).code})`;
    throw new ConfigError([{ name: 'TLS_KEY', message }]);
  }
  return certificate;
}

/** Reads a file that a setting names. */
function readPem(name: 'TLS_CERT' | 'TLS_KEY', path: string): Buffer {
  try {
    return readSecretFile(path);
  } catch (error) {
    throw new ConfigError([{ name, message: (error as Error).message }]);
  }
}
