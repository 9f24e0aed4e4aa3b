#!/usr/bin/env node
/*
 * Entry of the installed package. It is CommonJS in the syntax of old releases, so that a Node that is too old prints one line and no
 * SyntaxError.
 */
const { engines }: { engines: { node: string } } = require('../../package.json');

const NODE_VERSION = /(\d+)\.(\d+)/;

/** Whether a version such as `22.18.0` satisfies a range such as `>=22.18`. */
function isAtLeast(version: string, range: string): boolean {
  const [, major, minor] = NODE_VERSION.exec(version)!;
  const [, minMajor, minMinor] = NODE_VERSION.exec(range)!;
  return Number(major) > Number(minMajor) || (major === minMajor && Number(minor) >= Number(minMinor));
}

if (!isAtLeast(process.versions.node, engines.node)) {
  process.stderr.write(
    `builder-api needs Node ${NODE_VERSION.exec(engines.node)![0]} or later; ${process.execPath} is Node ${process.versions.node}.\n`,
  );
  process.exit(1);
}

// Stack traces name the sources, except those of dependencies, whose source maps would be read at every start.
require('node:module').setSourceMapsSupport(true);
// Workers run this file too, with the same arguments.
void (process.argv[2] === 'serve' ? import('./server.ts') : import('./cli.ts'));
