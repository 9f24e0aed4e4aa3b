import { Session } from 'node:inspector/promises';
import { buildApp } from '../../src/app.ts';
import { AccessTokens } from '../../src/auth/access-tokens.ts';
import { loadConfig } from '../../src/config.ts';
import { mapRegions } from '../../src/shared/regions.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';

/** Our files and functions that run for a request. */
export interface RequestPath {
  /** Paths from the root of the sources, without extension. */
  files: string[];
  /** Calls of each, by `path:name@offset`. */
  functions: Map<string, number>;
}

/** A request whose path is measured. */
export interface MeasuredRequest {
  name: string;
  send: () => Promise<{ status: number; text: string }>;
  maxFiles: number;
  maxFunctions: number;
}

/** Rounds before and during the measurement. A function counts that runs in each: leases and reloads of tokens run in some only. */
const WARM_UP = 30;
const ROUNDS = 5;

/** File of ours in the URL of a script, compiled or not. */
const OWN = /\/((?:src|resolvers|schema|entities)\/.+)\.[jt]s$/;

/** Returns the files and functions of ours that run in this process for a warm request, by V8's precise coverage. */
export async function measureRequestPath({ name, send }: MeasuredRequest): Promise<RequestPath> {
  const requireSuccess = async () => {
    const { status, text } = await send();
    if (status >= 300 || text.includes('"errors"')) throw new Error(`${name}: ${status} ${text}`);
  };
  for (let round = 0; round < WARM_UP; round++) await requireSuccess();
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  let functions: RequestPath['functions'] | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    await session.post('Profiler.takePreciseCoverage');
    await requireSuccess();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const called = new Map(
      result.flatMap(({ url, functions: all }) => {
        const file = OWN.exec(url)?.[1];
        const own = file === undefined ? [] : all.filter(({ ranges }) => ranges[0]!.count > 0);
        return own.map(({ functionName, ranges }): [string, number] => [
          `${file}:${functionName || 'anonymous'}@${ranges[0]!.startOffset}`,
          ranges[0]!.count,
        ]);
      }),
    );
    functions = new Map([...called].filter(([name]) => functions?.has(name) ?? true));
  }
  await session.post('Profiler.disable');
  session.disconnect();
  const names = [...functions!.keys()].sort();
  return { files: [...new Set(names.map((name) => name.split(':', 1)[0]!))], functions: functions! };
}

const DASHBOARD = `query ($builderId: BuilderId!) {
  projects(builderId: $builderId, limit: 5) {
    meta { totalCount }
    data { name timesheets(limit: 5) { meta { totalCount } data { date hours profile { fullName } } } }
  }
}`;

/** Returns the requests whose paths have limits: a list, a write and a dashboard. */
export function createMeasuredRequests(
  baseUrl: string,
  token: string,
  { builderId, projectId, workerId, now }: { builderId: string; projectId: string; workerId: string; now: number },
): MeasuredRequest[] {
  const send = async (path: string, body?: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      body: body && JSON.stringify(body),
    });
    return { status: response.status, text: await response.text() };
  };
  const signOn = (number: number) => ({
    sourceEventId: `path-${number}`,
    workerId,
    type: 'SIGN_ON',
    occurredAt: new Date(now - 3_600_000 + number * 1000).toISOString(),
  });
  let events = 0;
  return [
    {
      name: 'GET /timesheets?limit=5',
      send: () => send('/timesheets?limit=5', undefined, { 'x-service-builder-id': builderId }),
      maxFiles: 30,
      maxFunctions: 110,
    },
    {
      name: 'POST sign-on-events',
      send: () => send(`/builders/${builderId}/projects/${projectId}/sign-on-events`, signOn(++events)),
      maxFiles: 32,
      maxFunctions: 140,
    },
    {
      name: 'GraphQL dashboard',
      send: () => send('/graphql', { query: DASHBOARD, variables: { builderId } }),
      maxFiles: 34,
      maxFunctions: 166,
    },
  ];
}

const IDS = `select s.builder_id, s.project_id, s.worker_id from site_access s
  where s.builder_id = ? and s.revoked_at is null and s.granted_at is not null limit 1`;

/** Measures the paths of the requests in one process, logs their functions, and compares them with their limits. */
export async function requestPath(log: Log): Promise<{ problems: string[]; figures: string }> {
  const environment = await ProofEnvironment.start();
  const config = loadConfig(environment.settings);
  const databases = mapRegions((region) => environment.database(region));
  const app = await buildApp(config, { databases, tokenKeys: [environment.settings.TOKEN_KEY!], clock: Date });
  environment.onClose(() => app.close());
  try {
    const { clientId, scopes, builderIds } = environment.demo.clients.find(({ name }) => name === 'A')!;
    const tokens = new AccessTokens({ keys: [environment.settings.TOKEN_KEY!], issuer: config.baseUrl, clock: Date });
    const { token } = await tokens.sign('au1', { sub: clientId, client_id: clientId, scope: scopes.join(' ') });
    const [ids] = await databases.au1.fork().execute<Record<string, string>[]>(IDS, [builderIds[0]]);
    const requests = createMeasuredRequests(await app.listen({ port: 0 }), token, {
      builderId: ids!.builder_id!,
      projectId: ids!.project_id!,
      workerId: ids!.worker_id!,
      now: Date.now(),
    });
    const problems: string[] = [];
    const figures: string[] = [];
    for (const request of requests) {
      const { files, functions } = await measureRequestPath(request);
      if (files.length > request.maxFiles)
        problems.push(`${request.name}: ${files.length} files of ${request.maxFiles}`);
      if (functions.size > request.maxFunctions)
        problems.push(`${request.name}: ${functions.size} functions of ${request.maxFunctions}`);
      for (const [name, calls] of functions) log(`${name} ${calls}`);
      const list = files.map((file) => `\`${file}\``).join(', ');
      figures.push(`**${request.name}**: ${files.length} files, ${functions.size} functions. ${list}.`);
    }
    return { problems, figures: `\n\n${figures.join('\n\n')}` };
  } finally {
    await environment.close(log);
  }
}
