/*
 * Removes files of installed packages that nothing here loads, 76 MB: the headers of Node for compilers and the CommonJS copy of
 * GraphiQL. `npm ci` runs it in this checkout (`prepare`).
 */
import { globSync, rmSync } from 'node:fs';

const UNUSED = ['node_modules/node/node_modules/node-*/include', 'node_modules/@graphql-yoga/render-graphiql/cjs'];

for (const folder of globSync(UNUSED)) rmSync(folder, { recursive: true });
