import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';

/** Version of the installed package. */
export const VERSION: string = JSON.parse(readFileSync(findPackageJSON(import.meta.url)!, 'utf8')).version;
