import { beforeAll, describe, expect, it } from 'vitest';
import { addStaff, ConsoleBrowser, signInToConsole } from '../support/console.ts';
import { callOf, consoleOperations, createRoleTable } from '../support/console-operations.ts';
import { schema as integratorSchema, consoleSchema as schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';

const operations = consoleOperations(schema);
const roles = createRoleTable(schema, integratorSchema);
const integratorFields = {
  ...integratorSchema.getQueryType()!.getFields(),
  ...integratorSchema.getMutationType()!.getFields(),
};

const service = useService();
let admin: ConsoleBrowser;
/** Headers of each caller that must not reach the console. */
const callers: Record<string, Record<string, string>> = {};

beforeAll(async () => {
  admin = await signInToConsole(service.app, await addStaff(service, 'ADMIN'));
  const cookieOf = async (id: string, end: (browser: ConsoleBrowser) => Promise<unknown>) => {
    const browser = await signInToConsole(service.app, await addStaff(service, 'ADMIN', { id }));
    const secret = browser.cookies.get('console-au1');
    await end(browser);
    return `console-au1=${secret}`;
  };
  const sql = (text: string, values: unknown[]) => service.databases.au1.fork().execute(text, values);
  const builderId = service.findDemoClient('A').builderIds[0]!;
  const member = service.findDemoUser(({ regionId }) => regionId === 'au1');
  const { clientId, scopes } = service.findDemoClient('A public');
  const session = await signInToAccount(member);
  const own = `console-au1=${admin.cookies.get('console-au1')}`;
  Object.assign(callers, {
    anonymous: {},
    'a made-up session': { cookie: `console-au1=${'A'.repeat(43)}` },
    'an ended session': { cookie: await cookieOf('user_out', (browser) => browser.query('mutation { signOut }')) },
    'a staff user without a role': {
      cookie: await cookieOf('user_former', () =>
        sql('update app_user set staff_role = null where id = ?', ['user_former']),
      ),
    },
    "a builder's member who was a staff user": {
      cookie: await cookieOf('user_member', async () => {
        await sql('update app_user set staff_role = null where id = ?', ['user_member']);
        await sql(
          `insert into membership (user_id, builder_id, created_at, updated_at, role) values (?, ?, now(), now(), 'ADMIN')`,
          ['user_member', builderId],
        );
      }),
    },
    "a builder's member": { cookie: `session-au1=${session}; console-au1=${session}` },
    "an integrator's user": {
      authorization: `Bearer ${await service.createToken({ clientId, scope: scopes, userId: 'user_member', builderId })}`,
    },
    "an integrator's client": { authorization: `Bearer ${await service.tokenOf('A')}` },
    'an internal client': { authorization: `Bearer ${await service.tokenOf('internal')}` },
    'a staff user of another region': { cookie: own, 'x-service-region-id': 'us1' },
  });
});

/** Returns the browser id of a member who is signed in to the pages of accounts. */
async function signInToAccount({ email, password }: { email: string; password: string }): Promise<string> {
  const browser = new ConsoleBrowser(service.app);
  await browser.signIn(await browser.send('GET', '/account/applications'), email, password);
  return browser.cookies.get('session-au1')!;
}

const entries = () => service.databases.au1.fork().execute('select id from audit_entry order by 1');

describe('the operations of the console', () => {
  it('are all in the table of roles, and no others (CON-4)', () => {
    expect(operations.map(({ field }) => field.name).sort()).toEqual(Object.keys(roles).sort());
  });

  it.each(operations.map(({ kind, field }) => [`${kind}.${field.name}`, kind, field] as const))(
    'are 401 and change nothing for everybody but staff: %s (CON-3, ACC-26)',
    async (_, kind, field) => {
      const payload = callOf(kind, field);
      const before = await entries();
      for (const [caller, headers] of Object.entries(callers)) {
        const response = await service.request({
          ...{ method: 'POST', url: '/console/graphql', payload },
          headers: { 'x-console-csrf': '1', ...headers },
        });
        const { data, errors } = response.json();
        expect([caller, response.statusCode, data]).toEqual([caller, 401, undefined]);
        expect(errors).toEqual([
          { message: 'Sign in to the console.', extensions: expect.objectContaining({ code: 'UNAUTHENTICATED' }) },
        ]);
      }
      expect(await entries()).toEqual(before);
    },
  );

  it.each(
    operations
      .filter(({ field }) => !(field.name in integratorFields))
      .map(({ kind, field }) => [kind, field] as const),
  )('are unknown to the schema of integrators: %s %s (CON-7)', async (kind, field) => {
    const { query, variables } = callOf(kind, field);
    const { data, errors } = await service.graphql(await service.tokenOf('internal'), query, variables);
    expect(data).toBeUndefined();
    expect(errors!.length).toBeGreaterThan(0);
  });

  it('reach a staff user: the callers above are no accident', async () => {
    expect((await admin.query('{ me { role } }')).data).toEqual({ me: { role: 'ADMIN' } });
  });
});
