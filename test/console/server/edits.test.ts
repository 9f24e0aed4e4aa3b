import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { PasswordLink } from '../../../entities/password-link.entity.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { BASE_URL, type Service, startService } from '../../support/harness.ts';
import { startMailServer } from '../../support/mail-server.ts';

let service: Service;
let kim: ConsoleBrowser;
let alex: ConsoleBrowser;

beforeAll(async () => {
  service = await startService();
  kim = await signInToConsole(service.app, await addStaff(service, 'OPERATOR', { id: 'user_kim', name: 'Kim Tran' }));
  alex = await signInToConsole(service.app, await addStaff(service, 'ADMIN', { id: 'user_alex', name: 'Alex Reid' }));
});
afterAll(() => service.stop());

const lastEntry = async (objectId: string) =>
  (await service.databases.au1.fork().find(AuditEntry, { objectId }, { orderBy: { at: 'desc', id: 'desc' } }))[0]!;

const CLIENT = 'id name type scopes redirectUris disabledAt updatedAt secrets { id }';

describe('createClient', () => {
  it('returns the secret once, and is in the audit log with the staff user and the console (CON-6)', async () => {
    const integrators = (await kim.query('{ integrators { data { id name } } }')).data.integrators.data;
    const { data, errors } = await kim.query(
      `mutation($id: ID) { createClient(integratorId: $id, name: "Site app", type: CONFIDENTIAL, scopes: ["read:photos"]) {
        secret client { ${CLIENT} integrator { name } } } }`,
      { id: integrators[0].id },
    );
    expect(errors).toBeUndefined();
    const { secret, client } = data.createClient;
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(client).toMatchObject({ name: 'Site app', type: 'CONFIDENTIAL', integrator: { name: integrators[0].name } });
    const token = await service.request({
      ...{ method: 'POST', url: '/oauth/token' },
      payload: {
        grant_type: 'client_credentials',
        client_id: client.id,
        client_secret: secret,
        scope: 'read:photos',
        audience: BASE_URL,
      },
    });
    expect(token.statusCode).toBe(200);
    expect(await lastEntry(client.id)).toMatchObject({
      ...{ action: 'client.created', actorType: 'STAFF', actorId: 'user_kim' },
      origin: { application: 'console', address: '203.0.113.7', requestId: expect.any(String) },
    });
  });

  it('names the field of an input that cannot be used', async () => {
    const [{ id }] = (await kim.query('{ integrators { data { id } } }')).data.integrators.data;
    const { errors } = await kim.query(
      `mutation { createClient(name: "x", type: CONFIDENTIAL, integratorId: "${id}", scopes: ["read:everything"]) { secret } }`,
    );
    expect(errors![0]!.extensions).toMatchObject({
      ...{ code: 'BAD_USER_INPUT', http: { status: 400 } },
      errors: [{ fieldName: 'scopes', message: expect.stringContaining('"read:everything" is not a scope') }],
    });
  });
});

describe('two people who change one object', () => {
  it('reports to the second who changed it and when, and changes nothing (CON-6)', async () => {
    const { clientId } = service.findDemoClient('B');
    const find = async (who: ConsoleBrowser) =>
      (await who.query(`{ client(id: "${clientId}") { ${CLIENT} } }`)).data.client;
    const [seenByKim, seenByAlex] = [await find(kim), await find(alex)];
    service.clock.advance(1000);
    const rename = (who: ConsoleBrowser, name: string, expectedUpdatedAt: string) =>
      who.query(
        `mutation($name: String, $at: Timestamp!) { updateClient(id: "${clientId}", name: $name, expectedUpdatedAt: $at) { ${CLIENT} } }`,
        { name, at: expectedUpdatedAt },
      );
    const first = await rename(kim, 'Renamed by Kim', seenByKim.updatedAt);
    expect(first.data.updateClient.name).toBe('Renamed by Kim');
    const at = new Date(service.clock.now()).toISOString();
    service.clock.advance(1000);
    const second = await rename(alex, 'Renamed by Alex', seenByAlex.updatedAt);
    expect(second.errors![0]).toMatchObject({
      message: `Kim Tran changed it at ${at}: Name, redirect URIs, origins, scopes or grants of a client changed.`,
      extensions: { code: 'EDIT_CONFLICT', http: { status: 409 } },
    });
    const now = await find(alex);
    expect(now.name).toBe('Renamed by Kim');
    expect((await rename(alex, 'Renamed by Alex', now.updatedAt)).errors).toBeUndefined();
  });

  it('accepts one of two simultaneous changes (CON-6)', async () => {
    const { clientId } = service.findDemoClient('C');
    const { updatedAt } = (await kim.query(`{ client(id: "${clientId}") { updatedAt } }`)).data.client;
    service.clock.advance(1000);
    const rotate = (who: ConsoleBrowser) =>
      who.query(`mutation { rotateClientSecret(id: "${clientId}", expectedUpdatedAt: "${updatedAt}") { secret } }`);
    const results = await Promise.all([rotate(kim), rotate(alex)]);
    const codes = results.map(({ errors }) => errors?.[0]?.extensions.code ?? 'done').sort();
    expect(codes).toEqual(['EDIT_CONFLICT', 'done']);
  });

  it.each([
    [
      'updateConnection',
      'connections',
      'integratorId: "$integratorId", builderId: "$builderId", scopes: ["read:builders"]',
      'scopes',
    ],
    ['disableUser', 'people', 'id: "$id"', 'disabledAt'],
    ['updateIntegrator', 'integrators', 'id: "$id", name: "Other name"', 'name'],
  ])('applies to %s (CON-6)', async (mutation, list, template, field) => {
    const keys = list === 'connections' ? 'integratorId builderId updatedAt' : 'id updatedAt';
    const filter = list === 'connections' ? '(status: ACTIVE)' : list === 'people' ? '(staff: false)' : '';
    const [row] = (await kim.query(`{ ${list}${filter} { data { ${keys} } } }`)).data[list].data;
    const args = template.replaceAll(/\$(\w+)/g, (_, name) => row[name]);
    service.clock.advance(1000);
    const change = (who: ConsoleBrowser) =>
      who.query(`mutation { ${mutation}(${args}, expectedUpdatedAt: "${row.updatedAt}") { ${field} updatedAt } }`);
    expect((await change(kim)).errors).toBeUndefined();
    const at = new Date(service.clock.now()).toISOString();
    service.clock.advance(1000);
    // The read of a person is an entry too.
    await alex.query(`{ ${list}${filter} { data { ${keys} } } }`);
    const { message } = (await change(alex)).errors![0]!;
    expect(message).toMatch(`Kim Tran changed it at ${at}: `);
    expect(message).not.toContain('read');
  });
});

describe('createUser', () => {
  const create = (who: ConsoleBrowser, args: string) =>
    who.query(
      `mutation { createUser(${args}) { url emailed expiresAt user { id email staffRole memberships { role builder { name } } } } }`,
    );

  it('adds a user to a builder and returns a link for choosing a password', async () => {
    const builderId = service.findDemoClient('A').builderIds[0]!;
    const { data, errors } = await create(
      kim,
      `email: "sam@new.example", name: "Sam", builderId: "${builderId}", role: "FOREMAN"`,
    );
    expect(errors).toBeUndefined();
    const { url, emailed, user } = data.createUser;
    expect([emailed, user.memberships]).toEqual([false, [{ role: 'FOREMAN', builder: { name: expect.any(String) } }]]);
    expect((await service.request({ url: new URL(url).pathname + new URL(url).search })).body).toContain(
      'sam@new.example',
    );
  });

  it.each([
    ['the role', `role: "${'x'.repeat(61)}"`, () => service.findDemoClient('A').builderIds[0]!, 400],
    ['the builder', 'role: "FOREMAN"', () => 'buil_none', 404],
  ])(
    'creates nothing where %s cannot be used, so that it can be corrected (CON-6)',
    async (_, args, builderId, status) => {
      const countCreated = () => service.databases.au1.fork().count(AuditEntry, { action: 'user.created' });
      const before = await countCreated();
      const person = `email: "lou@new.example", name: "Lou"`;
      const { errors } = await create(kim, `${person}, builderId: "${builderId()}", ${args}`);
      expect(errors!.map(({ extensions }) => extensions.http.status)).toEqual([status]);
      expect((await kim.query('{ people(search: "lou@new") { data { id } } }')).data.people.data).toEqual([]);
      expect(await countCreated()).toBe(before);
    },
  );

  it('says that the mail server did not accept the link, beside the user that it has created', async () => {
    const mail = await startMailServer();
    const mailing = await startService({ SMTP_URL: mail.url, MAIL_FROM: 'no-reply@example.com' });
    try {
      const email = await addStaff(mailing, 'OPERATOR');
      const operator = await signInToConsole(mailing.app, email);
      const invite = (name: string) => create(operator, `email: "${name}@new.example", name: "${name}"`);
      mail.isRejecting = true;
      const rejected = (await invite('ada')).data.createUser;
      expect(rejected).toMatchObject({ url: null, emailed: false, user: { email: 'ada@new.example' } });
      const links = await mailing.databases.au1.fork().count(PasswordLink, { userId: rejected.user.id });
      expect(links).toBe(0);
      mail.isRejecting = false;
      expect((await invite('ben')).data.createUser).toMatchObject({ url: null, emailed: true });
      const again = `mutation { inviteUser(id: "${rejected.user.id}") { emailed } }`;
      expect((await operator.query(again)).data.inviteUser).toEqual({ emailed: true });
      expect(mail.messages.map(({ to }) => to)).toEqual([['ben@new.example'], ['ada@new.example']]);
      const { id, updatedAt } = (await operator.query('{ person(user: "ben@new.example") { id updatedAt } }')).data
        .person;
      const move = `updateUser(id: "${id}", email: "moved@new.example", expectedUpdatedAt: "${updatedAt}") { email }`;
      expect((await operator.query(`mutation { ${move} }`)).errors).toBeUndefined();
      await expect
        .poll(() =>
          mail.messages
            .slice(2)
            .flatMap(({ to }) => to)
            .sort(),
        )
        .toEqual(['ben@new.example', 'moved@new.example']);
    } finally {
      await mailing.stop();
      await mail.close();
    }
  });

  it('is for administrators where the user is a staff user (ACC-27)', async () => {
    const args = 'email: "new@operator.example", name: "New", staffRole: VIEWER';
    expect((await create(kim, args)).errors![0]!.message).toBe('The role OPERATOR does not allow staff.created.');
    expect((await kim.query('{ people(search: "new@operator") { data { id } } }')).data.people.data).toEqual([]);
    expect((await create(alex, args)).data.createUser.user.staffRole).toBe('VIEWER');
  });
});

describe('webhook endpoints', () => {
  it('are created, changed, replayed and deleted for an integrator, with an audit entry each (CON-6)', async () => {
    const { clientId } = service.findDemoClient('A');
    const url = 'https://example.com/hook';
    const created = await kim.query(
      `mutation($id: ID!, $url: WebhookUrl!) { createWebhookEndpoint(clientId: $id, url: $url) { id secret status updatedAt } }`,
      { id: clientId, url },
    );
    expect(created.errors).toBeUndefined();
    const { id, secret, updatedAt } = created.data.createWebhookEndpoint;
    expect(secret).toMatch(/^whsec_/);
    const run = async (mutation: string) => {
      service.clock.advance(1000);
      const { errors } = await kim.query(`mutation { ${mutation} }`);
      expect(errors).toBeUndefined();
      return (await lastEntry(id)).action;
    };
    expect(
      await run(`replayWebhookEndpoint(endpointId: "${id}", from: { since: "2026-05-31T00:00:00Z" }) { startedAt }`),
    ).toBe('webhook_endpoint.replayed');
    expect(
      await run(
        `updateWebhookEndpoint(endpointId: "${id}", status: PAUSED, expectedUpdatedAt: "${updatedAt}") { status }`,
      ),
    ).toBe('webhook_endpoint.updated');
    const late = await alex.query(
      `mutation { deleteWebhookEndpoint(endpointId: "${id}", expectedUpdatedAt: "${updatedAt}") { id } }`,
    );
    expect(late.errors![0]!.extensions.code).toBe('EDIT_CONFLICT');
    const shown = (
      await kim.query(`{ webhookEndpoint(endpointId: "${id}") { status updatedAt failures replayRemaining
      integrator { name } client { id } deliveries { data { id } } } }`)
    ).data.webhookEndpoint;
    expect(shown).toMatchObject({ status: 'PAUSED', failures: 0, client: { id: clientId }, deliveries: { data: [] } });
    expect(
      await run(`deleteWebhookEndpoint(endpointId: "${id}", expectedUpdatedAt: "${shown.updatedAt}") { id }`),
    ).toBe('webhook_endpoint.deleted');
    const entries = JSON.stringify(await service.databases.au1.fork().find(AuditEntry, { objectId: id }));
    expect(entries).not.toContain(secret);
  });
});
