import { join } from 'node:path';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';

const FOLDER = join(PACKAGE_ROOT, 'test', 'samples', 'tls');

/** Settings of a service with a certificate for `localhost` that is signed by itself, whose RSA key has 2,048 bits. For tests alone. */
export const TLS_SETTINGS = { TLS_CERT: join(FOLDER, 'cert.pem'), TLS_KEY: join(FOLDER, 'key.pem') };
