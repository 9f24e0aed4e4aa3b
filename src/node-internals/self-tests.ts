import { testHttpParser } from './http-parser.ts';

/** What does not work when an undocumented interface has changed, and what to do. */
const SELF_TESTS: [test: () => boolean | Promise<boolean>, consequence: string][] = [
  [
    testHttpParser,
    'Connections that send thousands of small chunks or pipelined requests are not stopped in time. Put a proxy that buffers requests in front, or use the Node version of package.json, and correct src/node-internals/http-parser.ts.',
  ],
];

/** Returns a message for each undocumented interface that this version of Node does not have, for the operator. */
export async function findMissingInternals(): Promise<string[]> {
  const results = await Promise.all(SELF_TESTS.map(async ([test]) => test()));
  return SELF_TESTS.filter((_, index) => !results[index]).map(([, consequence]) => consequence);
}
