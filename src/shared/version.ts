import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

const PACKAGE_FILE = findPackageJSON(import.meta.url)!;

/** Folder of the package, or of its checkout. */
export const PACKAGE_ROOT = dirname(PACKAGE_FILE);

/** Version of the installed package. */
export const VERSION: string = JSON.parse(readFileSync(PACKAGE_FILE, 'utf8')).version;
