import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { YOUNG_GENERATION } from './supervision/young-generation.ts';

// Compiled code is kept beside the program, which saves a good part of every start but the first.
enableCompileCache(join(import.meta.dirname, '..', '.compile-cache'));

// What a request makes lives as long as the request. Under load V8 takes that for long, and makes such objects among the old ones,
// where they keep all that they lead to until the next full collection, which was a fifth of the work of a dashboard.
setFlagsFromString('--no-allocation-site-pretenuring');

// The young generation stays small until the process serves: reading the code makes it grow to 48 MiB, which a supervisor and a
// standby worker would keep for nothing.
setFlagsFromString(YOUNG_GENERATION.fixed);

const { main } = await import('./service.ts');
await main(process.argv.includes('--timing'));
