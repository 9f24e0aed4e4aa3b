import { enableCompileCache, setSourceMapsSupport } from 'node:module';
import { join } from 'node:path';

// Stack traces name the sources. Node reads the source map of each module at once, so those of dependencies are left out.
setSourceMapsSupport(true);

// Caches compiled code beside the program, which shortens every start but the first.
enableCompileCache(join(import.meta.dirname, '..', '.compile-cache'));

const { main } = await import('./service.ts');
await main();
