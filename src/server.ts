import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { YOUNG_GENERATION } from './supervision/young-generation.ts';

// Caches compiled code beside the program, which shortens every start but the first.
enableCompileCache(join(import.meta.dirname, '..', '.compile-cache'));

// Objects of a request live as long as the request. Under load V8 treats them as long-lived and allocates them in the old generation,
// where they and what they refer to stay until the next full collection, which was a fifth of the CPU time of a dashboard.
setFlagsFromString('--no-allocation-site-pretenuring');

// The young generation stays small until the process serves: reading the code makes it grow to 48 MiB, which a supervisor and a
// standby worker would keep for nothing.
setFlagsFromString(YOUNG_GENERATION.fixed);

const { main } = await import('./service.ts');
await main(process.argv.includes('--timing'));
