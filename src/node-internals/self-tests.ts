import { testHttpParser } from './http-parser.ts';
import { testLibHeif } from './libheif.ts';
import { testPgPipeline } from './pg-pipeline.ts';

/** What does not work when an undocumented interface has changed, and what to do. `sofa-routes.ts` checks itself when it is used, at each start. */
const SELF_TESTS: [test: () => boolean | Promise<boolean>, consequence: string][] = [
  [
    testHttpParser,
    'Connections that send thousands of small chunks or pipelined requests are not stopped in time. Put a proxy that buffers requests in front, or use the Node version of package.json, and correct src/node-internals/http-parser.ts.',
  ],
  [
    testPgPipeline,
    'Reads and groups of writes fail. Use the version of pg of package.json, or correct src/node-internals/pg-pipeline.ts.',
  ],
  [
    testLibHeif,
    'HEIC files are refused. Use the version of libheif-js of package.json, or correct src/node-internals/libheif.ts.',
  ],
];

/** Returns a message for each undocumented interface that this version of Node, or of a package, does not have, for the operator. */
export async function findMissingInternals(): Promise<string[]> {
  // One that uses a function that does not exist throws.
  const results = await Promise.all(
    SELF_TESTS.map(([test]) =>
      Promise.resolve()
        .then(test)
        .catch(() => false),
    ),
  );
  return SELF_TESTS.filter((_, index) => !results[index]).map(([, consequence]) => consequence);
}
