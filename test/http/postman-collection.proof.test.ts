import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Service, startService } from '../support/harness.ts';
import { installTool } from '../support/install-tool.ts';
import { freePort } from '../support/ports.ts';
import { createSamples, type Samples } from '../support/samples.ts';

interface Item {
  name: string;
  item?: Item[];
  request: { method: string; url: { path: string[]; variable: { key: string; value: string }[] } };
}

interface Execution {
  item: Item;
  response?: { code: number };
}

const run = promisify(execFile);

let service: Service;
let folder: string;
let newman: string;
let samples: Samples;
let collection: { item: Item[] };
let document: { paths: Record<string, Record<string, { security?: object[]; responses: object }>> };

beforeAll(async () => {
  newman = join(installTool('test/tools/postman'), 'node_modules/.bin/newman');
  const port = await freePort();
  const baseUrl = `http://localhost:${port}`;
  service = await startService({ BASE_URL: baseUrl });
  await service.app.listen({ host: 'localhost', port });
  samples = await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!);
  folder = await mkdtemp(join(tmpdir(), 'postman-'));
  collection = await (await fetch(`${baseUrl}/docs/postman.json`)).json();
  document = await (await fetch(`${baseUrl}/openapi.json`)).json();
});

afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const toOperation = ({ request: { method, url } }: Item) => {
  const path = `/${url.path.map((part) => part.replace(/^:(.*)/, '{$1}')).join('/')}`;
  return { name: `${method} ${path}`, operation: document.paths[path]![method.toLowerCase()]! };
};

/** Keeps the requests that match, in their folders. Sets the one path variable whose example is the id of no kind. */
const select = (items: Item[], matches: (item: Item) => boolean): Item[] =>
  items.flatMap((each) => {
    if (each.item) return [{ ...each, item: select(each.item, matches) }];
    for (const variable of each.request.url.variable)
      if (variable.key === 'identifierOrId') variable.value = samples.InductionKey!;
    return matches(each) ? [each] : [];
  });

/** Runs requests as a person would who has filled in the variables, and returns what was received. */
async function runRequests(matches: (item: Item) => boolean): Promise<Execution[]> {
  const { clientId, clientSecret, scopes } = service.findDemoClient('A');
  const file = join(folder, 'collection.json');
  await writeFile(file, JSON.stringify({ ...collection, item: select(collection.item, matches) }));
  const ids = Object.entries(samples).map(([name, id]) => [name[0]!.toLowerCase() + name.slice(1), id]);
  const variables = [...ids, ['clientId', clientId], ['clientSecret', clientSecret!], ['scope', scopes.join(' ')]];
  const report = join(folder, 'report.json');
  const values = variables.flatMap(([name, value]) => ['--env-var', `${name}=${value}`]);
  await run(newman, ['run', file, ...values, '--reporters', 'json', '--reporter-json-export', report]).catch(
    (error) => {
      // Requests that fail, such as those of files that are not there, are among the results.
      if (error.code !== 1) throw error;
    },
  );
  return JSON.parse(await readFile(report, 'utf8')).run.executions;
}

describe('the Postman collection in newman', () => {
  it('gets a token, and with it reads everything', async () => {
    const executions = await runRequests(
      (item) => item.request.method === 'GET' || toOperation(item).name === 'POST /oauth/token',
    );
    const results = executions.flatMap(({ item, response }) => {
      const { name, operation } = toOperation(item);
      return operation.security?.length === 0 ? [] : [`${name} ${response?.code}`];
    });
    expect(results.length).toBeGreaterThan(30);
    expect(results.filter((result) => !result.endsWith(' 200'))).toEqual([]);
  });

  it('gets a documented response to every request', async () => {
    const executions = await runRequests(() => true);
    const undocumented = executions.flatMap(({ item, response }) => {
      const { name, operation } = toOperation(item);
      return response && String(response.code) in operation.responses ? [] : [`${name} ${response?.code}`];
    });
    expect(executions.length).toBeGreaterThan(60);
    expect(undocumented).toEqual([]);
  });
});
