import { beforeAll, describe, expect, it } from 'vitest';
import { AuditEntry } from '../../../entities/audit-entry.entity.ts';
import { noteChanges } from '../../support/audit.ts';
import { addStaff, type ConsoleBrowser, signInToConsole } from '../../support/console.ts';
import { consoleSchema } from '../../support/definition.ts';
import { useService } from '../../support/harness.ts';

const service = useService();
let admin: ConsoleBrowser;
let noted: Awaited<ReturnType<typeof noteChanges>>;
/** Values of the aliases in capitals that earlier mutations have selected. */
const values: Record<string, string> = {};
/** Secrets that mutations have returned. */
const secrets: string[] = [];

beforeAll(async () => {
  admin = await signInToConsole(service.app, await addStaff(service, 'ADMIN'));
  values.BUILDER = service.findDemoClient('A').builderIds[0]!;
  // A second sign-off that waits, for the other decision.
  await service.databases.au1.fork().execute(
    `insert into sign_on_event select (jsonb_populate_record(event, jsonb_build_object('id', 'saevt_second', 'received', 1000000,
        'source_event_id', 'second', 'source_sign_on_event_id', 'absent'))).*
      from sign_on_event event where builder_id = ? and status = 'PENDING_SIGN_ON' limit 1`,
    [values.BUILDER],
  );
  values.USER = service.findDemoUser(({ regionId }) => regionId === 'au1').id;
  const open = `{ conflicts(state: OPEN, limit: 1) { data { CONFLICT: id CONFLICT_AT: updatedAt } }
    builder(builderId: "${values.BUILDER}") {
      openVisits { data { VISIT: id VISIT_AT: updatedAt } }
      first: pendingSignOffs(limit: 1) { data { DISMISSED: id DISMISSED_AT: updatedAt } }
      second: pendingSignOffs(limit: 1, offset: 1) { data { SIGN_OFF: id SIGN_OFF_AT: updatedAt } } } }`;
  keepValues((await admin.query(open)).data);
  noted = await noteChanges(service.databases.au1);
});

const CLIENT = 'id: $CLIENT, expectedUpdatedAt: $AT';
const CONNECTION = 'integratorId: $INTEGRATOR, builderId: $BUILDER';
const PERSON = 'id: $PERSON, expectedUpdatedAt: $AT';
const MEMBER = 'userId: $PERSON, builderId: $BUILDER';
const VISIT = 'visitId: $VISIT, expectedUpdatedAt: $VISIT_AT';
const ENDPOINT = 'endpointId: $ENDPOINT, expectedUpdatedAt: $AT';

/** Changes in the order in which they can run, and the actions that each records. */
const MUTATIONS: [mutation: string, ...actions: string[]][] = [
  ['createIntegrator(name: "Sync") { INTEGRATOR: id AT: updatedAt }', 'integrator.created'],
  ['updateIntegrator(id: $INTEGRATOR, name: "Sync 2", expectedUpdatedAt: $AT) { id }', 'integrator.updated'],
  [
    `createClient(integratorId: $INTEGRATOR, name: "App", type: CONFIDENTIAL, scopes: ["read:builders"])
      { SECRET: secret client { CLIENT: id AT: updatedAt } }`,
    'client.created',
  ],
  [`updateClient(${CLIENT}, scopes: ["read:photos"]) { AT: updatedAt }`, 'client.updated'],
  [`rotateClientSecret(${CLIENT}) { SECRET: secret client { AT: updatedAt } }`, 'client_secret.rotated'],
  [`disableClient(${CLIENT}) { AT: updatedAt }`, 'client.disabled'],
  [`enableClient(${CLIENT}) { AT: updatedAt }`, 'client.enabled'],
  [`createConnection(${CONNECTION}, scopes: ["read:builders"]) { AT: updatedAt }`, 'connection.created'],
  [
    `updateConnection(${CONNECTION}, scopes: ["read:photos"], expectedUpdatedAt: $AT) { AT: updatedAt }`,
    'connection.updated',
  ],
  [`revokeConnection(${CONNECTION}, expectedUpdatedAt: $AT) { AT: updatedAt }`, 'connection.revoked'],
  [`createConnection(${CONNECTION}, scopes: ["read:builders"]) { AT: updatedAt }`, 'connection.reactivated'],
  [
    'createUser(email: "sam@new.example", name: "Sam") { URL: url user { PERSON: id } }',
    'password_link.created',
    'user.created',
  ],
  ['inviteUser(id: $PERSON) { URL: url user { AT: updatedAt } }', 'password_link.created'],
  ['resetPassword(id: $USER) { URL: url }', 'password_link.created'],
  [`updateUser(${PERSON}, name: "Sam Hill") { AT: updatedAt }`, 'user.updated'],
  [`disableUser(${PERSON}) { AT: updatedAt }`, 'user.disabled'],
  [`enableUser(${PERSON}) { AT: updatedAt }`, 'user.enabled'],
  [`addMembership(${MEMBER}) { id }`, 'membership.created'],
  [`updateMembership(${MEMBER}, role: "FOREMAN") { id }`, 'membership.updated'],
  [`removeMembership(${MEMBER}) { id }`, 'membership.deleted'],
  [
    'createUser(email: "new@operator.example", name: "New", staffRole: VIEWER) { URL: url }',
    'staff.created',
    'staff.password_link_created',
  ],
  [
    'createWebhookEndpoint(clientId: $CLIENT, url: "https://example.com/hook") { SECRET: secret ENDPOINT: id AT: updatedAt }',
    'webhook_endpoint.created',
  ],
  ['replayWebhookEndpoint(endpointId: $ENDPOINT, from: { since: $AT }) { endpointId }', 'webhook_endpoint.replayed'],
  [`updateWebhookEndpoint(${ENDPOINT}, status: PAUSED) { AT: updatedAt }`, 'webhook_endpoint.updated'],
  [`rotateWebhookSecret(${ENDPOINT}) { SECRET: secret AT: updatedAt }`, 'webhook_endpoint.secret_rotated'],
  [`deleteWebhookEndpoint(${ENDPOINT}) { id }`, 'webhook_endpoint.deleted'],
  [`closeVisit(${VISIT}, reason: "Left") { VISIT_AT: updatedAt }`, 'visit.closed'],
  [`archiveVisit(${VISIT}) { id }`, 'visit.archived'],
  [
    'dismissSignOff(signOnEventId: $DISMISSED, reason: "Seen", expectedUpdatedAt: $DISMISSED_AT) { id }',
    'sign_off.dismissed',
  ],
  [
    'createVisit(signOnEventId: $SIGN_OFF, signedOnAt: "2020-01-01T00:00:00Z", reason: "Seen", expectedUpdatedAt: $SIGN_OFF_AT) { id }',
    'visit.created',
  ],
  [
    'resolveConflict(id: $CONFLICT, resolution: KEEP_RECORD, reason: "Seen", expectedUpdatedAt: $CONFLICT_AT) { id }',
    'conflict.resolved',
  ],
];

/** Mutations that change nothing in the database but sessions and what a test event has found. */
const OTHERS = ['signOut', 'testWebhookEndpoint'];

/** Keeps the values of a response by their aliases. */
function keepValues(data: object): void {
  for (const [name, value] of Object.entries(data)) {
    if (value !== null && typeof value === 'object') keepValues(value);
    else values[name] = String(value);
  }
}

const findEntries = () =>
  service.databases.au1.fork().find(AuditEntry, { actorId: 'user_admin', action: { $ne: 'person.read' } });

describe('each change in the console', () => {
  it.each(MUTATIONS)(
    '%s is recorded with the staff user, time and origin, or not made (ACC-20, ACC-21, CON-6)',
    async (mutation, ...actions) => {
      const before = new Set((await findEntries()).map(({ id }) => id));
      service.clock.advance(1000);
      const text = mutation.replaceAll(/\$(\w+)/g, (_, name) => JSON.stringify(values[name]));
      const changed = await noted.takeRefused(async () => {
        expect((await admin.query(`mutation { ${text} }`)).errors).toHaveLength(1);
      });
      expect(changed).toEqual([]);
      const { data, errors } = await admin.query(`mutation { ${text} }`);
      expect(errors).toBeUndefined();
      keepValues(data);
      for (const value of [values.SECRET, values.URL && new URL(values.URL).searchParams.get('token')])
        if (value) secrets.push(value);
      const added = (await findEntries()).filter(({ id }) => !before.has(id));
      expect(added.map(({ action }) => action).sort()).toEqual(actions);
      for (const entry of added) {
        expect(entry).toMatchObject({
          actorType: 'STAFF',
          at: new Date(service.clock.now()).toISOString(),
          origin: { application: 'console', address: expect.any(String), requestId: expect.any(String) },
        });
      }
    },
  );

  it('is in the list of this test', () => {
    const tested = MUTATIONS.map(([mutation]) => mutation.split('(', 1)[0]!);
    const names = Object.keys(consoleSchema.getMutationType()!.getFields());
    expect([...new Set([...tested, ...OTHERS])].sort()).toEqual(names.sort());
  });

  it('leaves no secret and no link in the log (ACC-22)', async () => {
    const log = JSON.stringify(await findEntries());
    expect(new Set(secrets).size).toBe(8);
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});

describe('the audit log', () => {
  const query = `query($reads: Boolean, $since: Timestamp, $until: Timestamp, $after: String, $limit: Int) {
    audit(reads: $reads, since: $since, until: $until, after: $after, limit: $limit) {
      data { action actorId records names } meta { nextCursor } } }`;
  const read = async (variables: Record<string, unknown>) => (await admin.query(query, variables)).data.audit;

  it('lists changes, and the reads of one response as one entry, which a cursor passes over (CON-5)', async () => {
    const [kim, lee] = await Promise.all(
      ['user_kim', 'user_lee'].map(async (id) =>
        signInToConsole(service.app, await addStaff(service, 'ADMIN', { id })),
      ),
    );
    const readPeople = async (person: ConsoleBrowser, limit: number) => {
      const { data } = await person.query(`{ people(limit: ${limit}) { data { name } } }`);
      expect(data.people.data).toHaveLength(limit);
    };
    const advance = () => {
      service.clock.advance(3_600_000);
      return new Date(service.clock.now()).toISOString();
    };
    const since = advance();
    await readPeople(kim!, 3);
    advance();
    await readPeople(kim!, 2);
    await readPeople(lee!, 4);
    const period = { since, until: advance() };
    const groups: unknown[][] = [];
    let after: string | null = null;
    do {
      const page = await read({ ...period, reads: true, limit: 1, after });
      for (const { actorId, records, names } of page.data) groups.push([names[actorId], actorId, records]);
      after = page.meta.nextCursor;
    } while (after);
    expect(groups).toEqual([
      ['Kim ADMIN', 'user_lee', 4],
      ['Kim ADMIN', 'user_kim', 2],
      ['Kim ADMIN', 'user_kim', 3],
    ]);
    const changes = await read({ reads: false, limit: 200 });
    expect(changes.data.length).toBeGreaterThan(MUTATIONS.length);
    expect(changes.data.map(({ action }: { action: string }) => action)).not.toContain('person.read');
  });
});
