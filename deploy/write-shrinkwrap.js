/*
 * Writes npm-shrinkwrap.json: package-lock.json without the packages that only development needs. npm installs a package with exactly
 * the versions of its shrinkwrap, including those of `overrides`, which it ignores in a package that is not the root. `npm pack` runs
 * this before, and deletes the file after: `npm ci` would prefer it.
 */
import { readFileSync, writeFileSync } from 'node:fs';

const read = (name) => JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));

const { packages, ...lock } = read('package-lock.json');
const isShipped = ([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link;
const { devDependencies: _, workspaces: _client, ...root } = packages[''];
const shipped = Object.fromEntries([['', root], ...Object.entries(packages).filter(isShipped)]);
const text = JSON.stringify({ ...lock, packages: shipped }, null, 2);
writeFileSync(new URL('../npm-shrinkwrap.json', import.meta.url), `${text}\n`);
