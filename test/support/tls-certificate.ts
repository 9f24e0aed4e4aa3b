import { join } from 'node:path';
import { findSourceRoot } from '../../src/cli/services/source-root.ts';

const FOLDER = join(await findSourceRoot(), 'test', 'samples', 'tls');

/** Settings of a service with a certificate for `localhost` that is signed by itself, whose RSA key has 2,048 bits. For tests alone. */
export const TLS_SETTINGS = { TLS_CERT: join(FOLDER, 'cert.pem'), TLS_KEY: join(FOLDER, 'key.pem') };
