import { beforeAll, describe, expect, it } from 'vitest';
import { schema } from '../support/definition.ts';
import { useService } from '../support/harness.ts';
import { OperationCalls } from '../support/operation-calls.ts';
import { createSamples } from '../support/samples.ts';

/** Mutations of records that belong to no integrator, which internal clients may call. */
const ALLOWED = [
  ...['createMeeting', 'updateMeeting', 'startMeeting', 'endMeeting', 'updateMeetingNotes'],
  ...['createPhotoFolder', 'updatePhotoFolder', 'deletePhotoFolder', 'updatePhoto', 'deletePhoto'],
];
const WRITE_SCOPES = ['write:photos', 'write:meetings', 'write:sign_on_events'];

const mutations = Object.values(schema.getMutationType()!.getFields());
const queriesOfWriters = Object.values(schema.getQueryType()!.getFields()).filter(({ extensions }) =>
  String(extensions.scope).startsWith('write:'),
);

const service = useService();
let calls: OperationCalls;
let token: string;

beforeAll(async () => {
  calls = new OperationCalls(
    service,
    await createSamples(service.databases.au1, service.findDemoClient('A').builderIds[0]!),
  );
  const { clientId, scopes } = service.findDemoClient('internal');
  const all = [...scopes, ...WRITE_SCOPES];
  const em = service.databases.au1.fork();
  await em.execute(`update oauth_client set scopes = ? where id = ?`, [`{${all.join(',')}}`, clientId]);
  token = await service.createToken({ clientId, scope: all });
});

describe('an internal client with every write scope', () => {
  it.each(mutations.filter(({ name }) => !ALLOWED.includes(name)))(
    'is refused what belongs to an integrator, with 403 FORBIDDEN: $name (ACC-16, MTG-11, UPL-1)',
    async (mutation) => {
      expect(await calls.graphql('Mutation', mutation, token)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    },
  );

  it.each(queriesOfWriters)(
    'is refused what an integrator has written, with 403 FORBIDDEN: $name (ATT-6)',
    async (query) => {
      expect(await calls.graphql('Query', query, token)).toMatchObject({ status: 403, code: 'FORBIDDEN' });
    },
  );

  it.each(mutations.filter(({ name }) => ALLOWED.includes(name)))(
    'may call what belongs to the builder alone: $name (ACC-16)',
    async (mutation) => {
      expect((await calls.graphql('Mutation', mutation, token)).status).not.toBe(403);
    },
  );

  it('makes no meeting in the name of an external source (MTG-11)', async () => {
    const builderId = calls.samples.BuilderId!;
    const source = 'sourceApp: "app", externalSourceId: "meeting-1"';
    const create = `mutation { createMeeting(builderId: "${builderId}", title: "Weekly", ${source}) { id } }`;
    const { errors } = await service.graphql(token, create);
    expect(errors).toMatchObject([{ extensions: { code: 'FORBIDDEN', http: { status: 403 } } }]);
  });
});
