import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { createDatabase } from '../setup/database.ts';

/** Reads 100 MB of rows, and prints by how many MiB the old space has grown, and how many major collections there were. */
const createProgram = (modules: string) => `
  import { PerformanceObserver, constants } from 'node:perf_hooks';
  import { getHeapSpaceStatistics } from 'node:v8';
  import { StatementRunner } from '${modules}/src/database/pool/statement-runner.js';
  const columns = Array.from({ length: 16 }, (_, index) => "'value " + index + " ' || n").join();
  const statement = { name: 'rows', text: 'select ' + columns + ' from generate_series(1, 800) n' };
  const runner = new StatementRunner(process.argv[1]);
  const oldSpace = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size / 2 ** 20;
  const read = async (times) => { for (let time = 0; time < times; time++) await runner.run(statement, []); };
  await read(40);
  let majors = 0;
  new PerformanceObserver((list) => {
    majors += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
  }).observe({ entryTypes: ['gc'] });
  const before = oldSpace();
  await read(200);
  console.log(JSON.stringify({ grown: oldSpace() - before, majors }));
  await runner.close();
`;

it('the rows of finished reads are freed by minor collections', async () => {
  const { url, drop } = await createDatabase('template1');
  try {
    const modules = join(PACKAGE_ROOT, 'dist');
    const options = [
      '--max-semi-space-size=16',
      '--initial-old-space-size=512',
      '--input-type=module',
      '--eval',
      createProgram(modules),
    ];
    const { stdout } = await promisify(execFile)(process.execPath, [...options, url]);
    const { grown, majors } = JSON.parse(stdout);
    expect(majors).toBe(0);
    expect(grown).toBeLessThan(15);
  } finally {
    await drop();
  }
});
