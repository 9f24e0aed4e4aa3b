import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { PACKAGE_ROOT } from '../../src/shared/version.ts';
import { createDatabase } from '../setup/database.ts';

const MODULES = join(PACKAGE_ROOT, 'dist/src');

/** Reads 100 MB of rows in 200 times. */
const READS = `
  const { StatementRunner } = await import('${MODULES}/database/pool/statement-runner.js');
  const columns = Array.from({ length: 16 }, (_, index) => "'value " + index + " ' || n").join();
  const statement = { name: 'rows', text: 'select ' + columns + ' from generate_series(1, 800) n' };
  const runner = new StatementRunner(process.argv[1]);
  const work = async (times) => { for (let time = 0; time < times; time++) await runner.run(statement, []); };
  const close = () => runner.close();
`;

/** Sends 16 requests at a time, 10 times; the first of all are open during two minor collections, so that what holds them becomes old. */
const REQUESTS = `
  const [{ createServer }, { connect }, { once }] = await Promise.all(['node:http', 'node:net', 'node:events'].map((name) => import(name)));
  const { limitConnections } = await import('${MODULES}/http/limits/connections.js');
  const server = createServer();
  const responses = [];
  let collections = 2;
  const respond = () => {
    for (; collections > 0; collections--) gc({ type: 'minor' });
    for (const response of responses.splice(0)) response.end('ok');
  };
  const listener = (_request, response) => { if (responses.push(response) === 16) setImmediate(respond); };
  server.on('request', limitConnections(server, listener, 60_000));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const sockets = Array.from({ length: 16 }, () => connect(server.address().port, '127.0.0.1'));
  const work = async (times) => {
    for (let time = 0; time < 10 * times; time++) {
      await Promise.all(sockets.map((socket) => {
        socket.write('GET / HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n');
        return once(socket, 'data');
      }));
    }
  };
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
`;

/** Does the work 200 times, and prints by how many MiB the old space has grown meanwhile, and how many major collections there were. */
const MEASURE = `
  const { PerformanceObserver, constants } = await import('node:perf_hooks');
  const { getHeapSpaceStatistics } = await import('node:v8');
  const oldSpace = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'old_space').space_used_size / 2 ** 20;
  await work(40);
  let majors = 0;
  new PerformanceObserver((list) => {
    majors += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR).length;
  }).observe({ entryTypes: ['gc'] });
  const before = oldSpace();
  await work(200);
  console.log(JSON.stringify({ grown: oldSpace() - before, majors }));
  await close();
`;

async function measureGarbage(work: string, ...values: string[]): Promise<{ grown: number; majors: number }> {
  const heap = ['--expose-gc', '--max-semi-space-size=16', '--initial-old-space-size=512'];
  const options = [...heap, '--input-type=module', '--eval'];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, work + MEASURE, ...values]);
  return JSON.parse(stdout);
}

it('the rows of finished reads are freed by minor collections', async () => {
  const { url, drop } = await createDatabase('template1');
  try {
    const { grown, majors } = await measureGarbage(READS, url);
    expect(majors).toBe(0);
    expect(grown).toBeLessThan(15);
  } finally {
    await drop();
  }
});

it('requests with their whole response are freed by minor collections', async () => {
  const { grown, majors } = await measureGarbage(REQUESTS);
  expect(majors).toBe(0);
  expect(grown).toBeLessThan(15);
});
