import { beforeAll, describe, expect, it } from 'vitest';
import type { StaffRole } from '../../../entities/user.entity.ts';
import { STAFF_ROLES } from '../../../src/domain/access/staff-roles.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { callOf, consoleOperations, createRoleTable } from '../../support/console-operations.ts';
import { schema as integratorSchema, consoleSchema as schema } from '../../support/definition.ts';
import { useService } from '../../support/harness.ts';

const operations = consoleOperations(schema);
const lowestRoles = createRoleTable(schema, integratorSchema);
const service = useService();
const browsers = {} as Record<StaffRole, ConsoleBrowser>;

beforeAll(async () => {
  for (const role of STAFF_ROLES) browsers[role] = await signInToConsole(service.app, await addStaff(service, role));
});

const isForbidden = ({ errors }: { errors?: { message: string }[] }) =>
  Boolean(errors?.some(({ message }) => message.startsWith('The role ')));

describe('the operations of the console', () => {
  it('each name an action of the table of staff roles (CON-4)', () => {
    expect(operations.length).toBeGreaterThan(70);
    expect(
      operations.filter(({ field }) => typeof field.extensions.action !== 'string').map(({ field }) => field.name),
    ).toEqual([]);
  });

  it('are all in the table of this test, and no others', () => {
    expect(operations.map(({ field }) => field.name).sort()).toEqual(Object.keys(lowestRoles).sort());
  });

  const others = operations.filter(({ field }) => field.name !== 'signOut');
  it.each(others.map(({ kind, field }) => [field.name, kind, field] as const))(
    '%s is for the roles of its action (CON-4)',
    async (name, kind, field) => {
      const lowest = lowestRoles[name];
      const { query, variables } = callOf(kind, field);
      for (const role of STAFF_ROLES) {
        const result = await browsers[role].query(query, variables);
        expect([role, isForbidden(result)]).toEqual([role, lowest === 'OPERATOR' && role === 'VIEWER']);
      }
    },
  );

  it('read the records of builders with the scopes of the role (CON-4)', async () => {
    const id = service.findDemoClient('A').builderIds[0]!;
    const visits = `{ builder(builderId: "${id}") { openVisits { data { signedOnAt } } } }`;
    expect((await browsers.VIEWER.query(visits)).errors![0]!.extensions.code).toBe('INSUFFICIENT_SCOPE');
    expect((await browsers.OPERATOR.query(visits)).errors).toBeUndefined();
    const all = await browsers.VIEWER.query('{ builders { data { id name } meta { totalCount } } }');
    expect(all.data.builders.meta.totalCount).toBeGreaterThan(1);
  });

  it('change no records of integrators: their mutations are not there', () => {
    const names = Object.keys(integratorSchema.getMutationType()!.getFields()).filter((name) => !/Webhook/.test(name));
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) expect(schema.getMutationType()!.getFields()).not.toHaveProperty(name);
  });
});

describe('integrators', () => {
  const internal = Object.keys(schema.getTypeMap()).filter((name) => !integratorSchema.getType(name));

  it('do not see the types of the console by introspection (CON-7)', async () => {
    expect(internal).toEqual(expect.arrayContaining(['Client', 'User', 'AuditEntry', 'UsageByDay', 'Conflict']));
    const token = await service.tokenOf('internal');
    const { data } = await service.graphql(token, '{ __schema { types { name fields { name } } } }');
    const names = data.__schema.types.map(({ name }: { name: string }) => name);
    expect(names.filter((name: string) => internal.includes(name))).toEqual([]);
    expect(JSON.stringify(data)).not.toMatch(/closingReason|expectedUpdatedAt|deadLetters/);
    const one = await service.graphql(token, '{ __type(name: "AuditEntry") { name } }');
    expect(one.data.__type).toBeNull();
    const sdl = (await service.get('/graphql/schema.graphql', token)).body;
    for (const name of internal) expect(sdl).not.toMatch(new RegExp(`^(?:type|enum|input|scalar) ${name}\\b`, 'm'));
  });

  it('cannot name them, and get no suggestion of them (CON-7)', async () => {
    const token = await service.tokenOf('A');
    const made = (text: string) =>
      text
        .replace(/ Did you mean.*/, '')
        .replaceAll(/AuditEntry|Zzzzzzzzzz/g, 'TYPE')
        .replaceAll(/integrators|zzzzzzzzzz/g, 'FIELD');
    const messages = async (query: string) =>
      (await service.graphql(token, query)).errors!.map(({ message }) => message);
    const comparable = async (query: string) => (await messages(query)).map(made);
    const fragment = (type: string) => `{ builders { data { id ... on ${type} { id } } } }`;
    expect(await comparable(fragment('AuditEntry'))).toEqual(await comparable(fragment('Zzzzzzzzzz')));
    expect(await comparable('{ integrators { at } }')).toEqual(await comparable('{ zzzzzzzzzz { at } }'));
    for (const near of ['{ integrator { id } }', '{ conflict { id } }', 'query($id: AuditEntr) { me { id } }']) {
      expect((await messages(near)).join()).not.toMatch(/"(?:integrators|conflicts|clients)"|AuditEntry/);
    }
  });
});

describe('internal clients, which read all builders', () => {
  const create = `mutation { createClient(type: INTERNAL, name: "Dashboards", scopes: ["read:builders"]) { secret client { id updatedAt } } }`;

  it('are created and get secrets by an administrator only', async () => {
    expect((await browsers.OPERATOR.query(create)).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    const { data, errors } = await browsers.ADMIN.query(create);
    expect(errors).toBeUndefined();
    const { id, updatedAt } = data.createClient.client;
    const rotate = `mutation { rotateClientSecret(id: "${id}", expectedUpdatedAt: "${updatedAt}") { secret } }`;
    expect((await browsers.OPERATOR.query(rotate)).errors?.[0]?.extensions.code).toBe('FORBIDDEN');
    expect((await browsers.ADMIN.query(rotate)).errors).toBeUndefined();
  });

  it('are disabled by an operator, and enabled and changed by an administrator only', async () => {
    const { id } = (await browsers.ADMIN.query(create)).data.createClient.client;
    const errorOf = async (role: StaffRole, name: string, input = '') => {
      const { updatedAt } = (await browsers.ADMIN.query(`{ client(id: "${id}") { updatedAt } }`)).data.client;
      const call = `${name}(id: "${id}", expectedUpdatedAt: "${updatedAt}"${input})`;
      return (await browsers[role].query(`mutation { ${call} { id } }`)).errors?.[0]?.extensions.code;
    };
    expect(await errorOf('OPERATOR', 'disableClient')).toBeUndefined();
    for (const [name, input] of [['enableClient'], ['updateClient', ', name: "Other"']] as const) {
      expect(await errorOf('OPERATOR', name, input)).toBe('FORBIDDEN');
      expect(await errorOf('ADMIN', name, input)).toBeUndefined();
    }
  });
});
