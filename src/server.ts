import { enableCompileCache } from 'node:module';
import { join } from 'node:path';

// Compiled code is kept beside the program, which saves a good part of every start but the first.
enableCompileCache(join(import.meta.dirname, '..', '.compile-cache'));

const { main } = await import('./service.ts');
await main(process.argv.includes('--timing'));
