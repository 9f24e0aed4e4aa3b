import { execFile } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { MapperKind, mapSchema } from '@graphql-tools/utils';
import { type GraphQLFieldConfig, GraphQLNonNull, GraphQLObjectType, GraphQLString } from 'graphql';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import { buildServiceSchema } from '../../resolvers/service-schema.ts';
import { createRouteTable } from '../../schema/route-table.ts';
import { buildApp, createServiceDefinition, type ServiceDefinition } from '../../src/app.ts';
import type { RequestContext } from '../../src/auth/request-context.ts';
import { loadConfig } from '../../src/config.ts';
import { createRestSchema } from '../../src/rest/projection.ts';
import { generateOperationDocuments } from '../../src/rest/sofa.ts';
import { systemClock } from '../../src/shared/clock.ts';
import { notFound } from '../../src/shared/errors.ts';
import { Browser } from '../oauth/browser.ts';
import { installTool } from '../support/install-tool.ts';
import { freePort } from '../support/ports.ts';
import { Balancer } from './balancer.ts';
import { type Log, ProofEnvironment } from './proof-environment.ts';

/** Versions of the protocol, of which each scenario has checks of its own. */
const VERSIONS = ['2025-11-25', '2026-07-28'] as const;

/** Scenarios of tools that the service has not, which a server with two more operations answers. */
const FIXTURE_SCENARIOS = ['tools-call-simple-text', 'tools-call-error'];

/** Scenarios, and checks of the others, that do not apply, by the reason. Any other failure or warning is a problem. */
const NOT_APPLICABLE: Record<string, readonly string[]> = {
  'the service has tools, no prompts, resources, completions or log messages': [
    'completion-complete',
    'logging-set-level',
    'prompts-get-embedded-resource',
    'prompts-get-simple',
    'prompts-get-with-args',
    'prompts-get-with-image',
    'prompts-list',
    'resources-list',
    'resources-read-binary',
    'resources-read-text',
    'resources-subscribe',
    'resources-templates-read',
    'resources-unsubscribe',
    'sep-2164-resource-not-found',
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
    'sep-2575-server-no-log-without-loglevel',
    'tools-call-with-logging',
  ],
  'no tool asks the client or the person for input': [
    'elicitation-sep1034-defaults',
    'elicitation-sep1330-enums',
    'input-required-result-basic-elicitation',
    'input-required-result-basic-list-roots',
    'input-required-result-basic-sampling',
    'input-required-result-capability-check',
    'input-required-result-ignore-extra-params',
    'input-required-result-missing-input-response',
    'input-required-result-multi-round',
    'input-required-result-multiple-input-requests',
    'input-required-result-non-tool-request',
    'input-required-result-request-state',
    'input-required-result-result-type',
    'input-required-result-tampered-state',
    'input-required-result-validate-input',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-missing-capability-http-400',
    'sep-2575-server-rejects-undeclared-capability',
    'tools-call-elicitation',
    'tools-call-sampling',
  ],
  'the service keeps no session and no open stream; its tools do not change': [
    'sep-2575-server-sends-subscription-ack',
    'sep-2575-server-tags-subscription-id',
    'server-session-lifecycle',
    'server-sse-multiple-streams-session',
    'server-sse-polling',
    'tools-call-with-progress',
  ],
  'content is the JSON of REST, and the image of get_photo, which test/mcp checks': [
    'tools-call-audio',
    'tools-call-embedded-resource',
    'tools-call-image',
    'tools-call-mixed-content',
  ],
  'schemas are those of the OpenAPI document, without x-mcp-header and $anchor': [
    'http-custom-header-server-validation',
    'json-schema-2020-12',
  ],
  'the operator registers clients': ['authorization-server-metadata-cimd'],
};

interface Check {
  id: string;
  status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  errorMessage?: string;
}

/** The checks of a scenario at a version. */
interface Outcome {
  scenario: string;
  version: string;
  checks: Check[];
}

/**
 * Runs the scenarios of the protocol's conformance suite against the service: those of servers with a token for the tools, those of
 * authorization servers with registered clients. Every check passes or is listed with the reason why it does not apply.
 */
export async function mcpConformance({ log }: { log: Log }) {
  const tool = installTool('test/tools/mcp-conformance');
  const balancer = await Balancer.start();
  const environment = await ProofEnvironment.start({ BASE_URL: balancer.origin });
  environment.onClose(() => balancer.close());
  try {
    await balancer.add((await environment.addInstance()).origin);
    const headers = ['Authorization', `Bearer ${await issueToken(balancer.origin, environment)}`];
    const app = await startFixtureServer(environment);
    const fixtures = await Balancer.start();
    environment.onClose(() => fixtures.close());
    await fixtures.add(app.listeningOrigin);

    const port = await freePort();
    const clientId = await registerRedirect(environment, `http://127.0.0.1:${port}/callback`);
    const run = (args: string[], browse?: (line: string) => void) => runSuite(tool, args, browse);
    const outcomes: Outcome[] = [];
    for (const version of VERSIONS) {
      const of = (origin: string, ...scenarios: string[]) =>
        run(['server', '--url', `${origin}/mcp`, '--spec-version', version, ...scenarios]);
      [balancer.headers, fixtures.headers] = [headers, headers];
      const all = await of(balancer.origin, '--suite', 'all');
      outcomes.push(...all.filter(({ scenario }) => !FIXTURE_SCENARIOS.includes(scenario)));
      for (const name of FIXTURE_SCENARIOS) outcomes.push(...(await of(fixtures.origin, '--scenario', name)));
      balancer.headers = [];
      const server = ['authorization', '--url', balancer.origin, '--spec-version', version];
      const client = ['--client-id', clientId, '--port', String(port), '--resource', `${balancer.origin}/mcp`];
      const issued = await run([...server, ...client], (line) => {
        if (line.startsWith(`${balancer.origin}/oauth/authorize`)) void allow(new Browser(app), line, environment);
      });
      outcomes.push(...issued);
      log(`${version}: ${outcomes.filter((one) => one.version === version).length} scenarios`);
    }
    return report(outcomes);
  } finally {
    await environment.close(log);
  }
}

/** Registers the suite's redirect URI for the public client of the demo. Returns the id of the client. */
async function registerRedirect(environment: ProofEnvironment, uri: string): Promise<string> {
  const { clientId } = environment.demo.clients.find(({ name }) => name === 'A public')!;
  await environment
    .database()
    .fork()
    .nativeUpdate(OAuthClient, { id: clientId }, { redirectUris: [uri] });
  return clientId;
}

/** Returns a token for the tools of a client of the demo. */
async function issueToken(origin: string, environment: ProofEnvironment): Promise<string> {
  const { clientId, clientSecret } = environment.demo.clients.find(({ name }) => name === 'A')!;
  const response = await fetch(`${origin}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret!,
      resource: `${origin}/mcp`,
    }),
  });
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Opens the authorization request as a person does who allows access, and follows the redirect to the suite. */
async function allow(browser: Browser, url: string, { demo }: ProofEnvironment): Promise<void> {
  const { email, password } = demo.users.find(
    ({ regionId, builderIds }) => regionId === 'au1' && builderIds.length === 1,
  )!;
  const signIn = await browser.send('GET', url.slice(new URL(url).origin.length));
  const { location } = await browser.submit(await browser.signIn(signIn, email, password), 'Allow');
  await fetch(location!);
}

/** Starts the application in this process, over the databases of the environment, with the operations of the fixtures. */
async function startFixtureServer(environment: ProofEnvironment) {
  const config = loadConfig(environment.settings);
  const app = await buildApp(config, {
    databases: { au1: environment.database('au1'), us1: environment.database('us1') },
    clock: systemClock,
    tokenKeys: [environment.settings.TOKEN_KEY!],
    definition: await createFixtureDefinition(),
  });
  environment.onClose(() => app.close());
  await app.listen({ host: '127.0.0.1', port: 0 });
  return app;
}

/** Returns the definition of the service with the operations that the suite's fixtures name. */
async function createFixtureDefinition(): Promise<ServiceDefinition> {
  const schema = mapSchema(buildServiceSchema(), {
    [MapperKind.MUTATION]: (type) => {
      const config = type.toConfig();
      return new GraphQLObjectType({ ...config, fields: { ...config.fields, ...FIXTURES } });
    },
  });
  const restSchema = createRestSchema(schema);
  const operations = createRouteTable(schema);
  const documents = await generateOperationDocuments(restSchema, operations);
  return { ...(await createServiceDefinition()), schema, restSchema, operations, documents };
}

const FIXTURE = new GraphQLObjectType({
  name: 'ConformanceFixture',
  description: 'A text.',
  fields: { text: { type: new GraphQLNonNull(GraphQLString), description: 'The text.' } },
});

const FIXTURES: Record<string, GraphQLFieldConfig<unknown, RequestContext>> = {
  test_simple_text: createFixture('/simple-text', () => ({ text: 'This is a simple text response for testing.' })),
  test_error_handling: createFixture('/error-handling', () => {
    throw notFound('Fixture');
  }),
};

function createFixture(path: string, resolve: () => object): GraphQLFieldConfig<unknown, RequestContext> {
  const rest = {
    method: 'POST',
    path,
    scope: null,
    params: {},
    status: 200,
    outcomes: {},
    conflicts: [],
    tag: 'Meetings',
  };
  return {
    type: new GraphQLNonNull(FIXTURE),
    description: 'Returns a text.',
    extensions: { rest, scope: null },
    resolve,
  };
}

/** Runs the suite with the arguments. Returns the checks of each scenario that it ran. */
async function runSuite(tool: string, args: string[], browse: (line: string) => void = () => undefined) {
  const folder = await mkdtemp(join(tmpdir(), 'mcp-conformance-'));
  try {
    const program = join(tool, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
    const running = promisify(execFile)(process.execPath, [program, ...args, '-o', folder], { maxBuffer: 2 ** 26 });
    running.child.stdout!.on('data', (text: string) => text.split('\n').forEach(browse));
    // It exits with 1 for a failed check.
    const output = await running.catch((error) => error);
    const files = globSync(`${folder}/*/checks.json`);
    if (files.length === 0) throw new Error(`The suite ran nothing: ${output.stderr}`);
    const version = args[args.indexOf('--spec-version') + 1]!;
    return files.map((file): Outcome => {
      const scenario = basename(dirname(file))
        .replace(/^server-|^authorization-server-/, '')
        .replace(/-\d{4}-\d\d-\d\dT.*$/, '');
      return { scenario, version, checks: JSON.parse(readFileSync(file, 'utf8')) };
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

type Verdict = 'passed' | 'failed' | 'not applicable';

const REASONS = new Map(
  Object.entries(NOT_APPLICABLE).flatMap(([reason, names]) => names.map((name) => [name, reason] as const)),
);

/** Returns whether the scenario passed, the listed checks that did not, and what is wrong. */
function judge({ scenario, version, checks }: Outcome) {
  if (REASONS.has(scenario)) return { verdict: 'not applicable' as const, listed: [scenario], problems: [] };
  const open = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
  const listed = open.filter(({ id }) => REASONS.has(id)).map(({ id }) => id);
  const problems = open
    .filter(({ id }) => !REASONS.has(id))
    .map(({ id, errorMessage }) => `${scenario} (${version}): ${id}: ${errorMessage}`);
  const isTested = checks.some(({ id, status }) => status === 'SUCCESS' && !id.startsWith('wire-schema'));
  if (!isTested && open.length === 0) problems.push(`${scenario} (${version}): nothing was checked`);
  const verdict: Verdict = problems.length > 0 ? 'failed' : isTested ? 'passed' : 'not applicable';
  return { verdict, listed, problems };
}

/** Returns the table of the scenarios, and a problem for each check that neither passes nor is listed. */
function report(outcomes: Outcome[]) {
  const problems: string[] = [];
  const totals: Record<Verdict, number> = { passed: 0, failed: 0, 'not applicable': 0 };
  const unused = new Set(REASONS.keys());
  const rows = [...new Set(outcomes.map(({ scenario }) => scenario))].sort().map((scenario) => {
    const omitted = new Set<string>();
    const cells = VERSIONS.map((version) => {
      const outcome = outcomes.find((one) => one.scenario === scenario && one.version === version);
      if (!outcome) return '';
      const judged = judge(outcome);
      totals[judged.verdict]++;
      problems.push(...judged.problems);
      for (const name of judged.listed) {
        unused.delete(name);
        omitted.add(name);
      }
      return judged.verdict;
    });
    return `| ${[`\`${scenario}\``, ...cells, describeOmitted(scenario, [...omitted])].join(' | ')} |`;
  });
  problems.push(...[...unused].map((name) => `${name} is listed as not applicable and does not fail`));
  const header = [`| Scenario | ${VERSIONS.join(' | ')} | Not applicable |`, '|---|---|---|---|'];
  const sums = Object.entries(totals).map(([verdict, count]) => `${count} ${verdict}`);
  return { problems, ...totals, figures: `${sums.join(', ')}.\n\n${[...header, ...rows].join('\n')}` };
}

/** Returns the reasons of what does not apply, with the checks of a scenario that otherwise does. */
function describeOmitted(scenario: string, names: string[]): string {
  const groups = Object.entries(Object.groupBy(names, (name) => REASONS.get(name)!));
  return groups
    .map(([reason, group]) =>
      names[0] === scenario ? reason : `${group!.map((name) => `\`${name}\``).join(', ')}: ${reason}`,
    )
    .join('; ');
}
