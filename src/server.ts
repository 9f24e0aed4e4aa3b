import { enableCompileCache, setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

// Stack traces name the sources. Node reads the source map of each module at once, so those of dependencies are left out.
setSourceMapsSupport(true);

// Caches compiled code beside the program, which shortens every start but the first.
enableCompileCache(join(import.meta.dirname, '..', '.compile-cache'));

// Objects of a request live as long as the request. Under load V8 treats them as long-lived and allocates them in the old generation,
// where they and what they refer to stay until the next full collection, which was a fifth of the CPU time of a dashboard.
setFlagsFromString('--no-allocation-site-pretenuring');

const { main } = await import('./service.ts');
await main(process.argv.includes('--timing'));
