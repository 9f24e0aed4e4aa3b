import { beforeAll, describe, expect, it } from 'vitest';
import {
  aSignOff,
  aSignOn,
  createGateFixture,
  readAttendance,
  sendEvent,
  signOnEventsPath,
} from '../support/attendance.ts';
import { useService } from '../support/harness.ts';

const service = useService();
let token: string;
let worker: string;

beforeAll(async () => {
  token = await service.tokenOf('A');
  [worker] = createGateFixture().workers.active as [string];
});

const post = (event: object, url?: string) => sendEvent(service.app, token, event, url);

/** Returns the names of the invalid fields of a 400. */
async function readInvalidFields(event: object): Promise<string[]> {
  const { status, body } = await post(event);
  expect([status, Object.keys(body)]).toEqual([400, ['errors']]);
  return body.errors.map(({ fieldName }: { fieldName: string }) => fieldName).sort();
}

describe('400', () => {
  it('names every required field that is missing (ATT-1)', async () => {
    expect(await readInvalidFields({})).toEqual(['occurredAt', 'sourceEventId', 'type', 'workerId']);
  });

  it('names all invalid fields (ATT-1)', async () => {
    const event = {
      sourceEventId: '',
      sourceSignOnEventId: 7,
      workerId: 'wrk_1',
      type: 'IN',
      occurredAt: 1,
      deviceId: [],
    };
    expect(await readInvalidFields(event)).toEqual(Object.keys(event).sort());
  });

  it.each(['sourceEventId', 'sourceSignOnEventId', 'deviceId'])(
    'for a %s of other than 1 to 200 characters',
    async (field) => {
      const event = () => ({ ...aSignOff(aSignOn(worker)), deviceId: 'd' });
      for (const wrong of ['', 'x'.repeat(201), '𝄞'.repeat(201), 5, true, {}, ['x'], '\u0000', 'a\ud800']) {
        expect(await readInvalidFields({ ...event(), [field]: wrong })).toEqual([field]);
      }
      for (const right of ['x', ' ', 'x'.repeat(200), '𝄞'.repeat(200), "'; drop table sign_on_event; --"]) {
        const { status } = await post({ ...event(), [field]: `${right}` });
        expect([202, 409]).toContain(status);
      }
    },
  );

  it.each(['wkr_', 'wkr_a-b', 'WKR_a', ' wkr_a', 'wkr_a\n', `wkr_${'a'.repeat(197)}`, '', 12, null])(
    'for the workerId %j',
    async (workerId) => expect(await readInvalidFields({ ...aSignOn(worker), workerId })).toEqual(['workerId']),
  );

  it.each([
    '2026-05-20T21:00:00',
    '2026-05-20',
    '2026-05-20T21:00:00+10:00',
    '2026-05-20T21:00:00-00:00',
    '2026-05-20T21:00:00.0001Z',
    '2026-05-20T21:00:00.Z',
    '2026-05-20 21:00:00Z',
    '2026-05-20t21:00:00z',
    '2026-02-30T21:00:00Z',
    '2026-05-20T24:00:00Z',
    '2026-05-20T21:60:00Z',
    '0000-05-20T21:00:00Z',
    '+002026-05-20T21:00:00Z',
    '',
    1_780_000_000_000,
    null,
  ])('for the occurredAt %j (ATT-2)', async (occurredAt) => {
    expect(await readInvalidFields({ ...aSignOn(worker), occurredAt })).toEqual(['occurredAt']);
  });

  it.each(['2026-05-20T21:00:00Z', '2026-05-20T21:00:00.1Z', '2026-05-20T21:00:00.123+00:00', '0001-01-01T00:00:00Z'])(
    'not for the occurredAt %j',
    async (occurredAt) => expect((await post({ ...aSignOn(worker), occurredAt })).status).toBe(201),
  );

  it("for an event more than 5,000 ms ahead of the server's clock, with the difference in the message (ATT-3)", async () => {
    const occurredAt = new Date(service.clock.now() + 5_001).toISOString();
    const { status, body } = await post({ ...aSignOn(worker), occurredAt });
    expect([status, body.errors]).toEqual([
      400,
      [
        {
          fieldName: 'occurredAt',
          message:
            "is 6 seconds ahead of the server's clock, of which 5 seconds are accepted; send it again in 1 second",
        },
      ],
    ]);
  });

  it('not for the same event once the clock has reached it (ATT-3)', async () => {
    const event = { ...aSignOn(worker), occurredAt: new Date(service.clock.now() + 5_001).toISOString() };
    expect((await post(event)).status).toBe(400);
    service.clock.advance(1);
    expect((await post(event)).status).toBe(201);
  });

  it("not for an event 5,000 ms ahead of the server's clock (ATT-3)", async () => {
    const occurredAt = new Date(service.clock.now() + 5_000).toISOString();
    const event = { ...aSignOn(worker), occurredAt };
    expect(await post(event)).toMatchObject({ status: 201, body: { data: { status: 'APPLIED', duplicate: false } } });
    expect(await post(event)).toMatchObject({ status: 200, body: { data: { duplicate: true } } });
  });

  it('for a SIGN_ON with sourceSignOnEventId, together with other errors (ATT-4)', async () => {
    const event = { ...aSignOn(worker), sourceSignOnEventId: 'gate-0' };
    expect(await readInvalidFields(event)).toEqual(['sourceSignOnEventId']);
    const occurredAt = '2026-06-02T00:00:00Z';
    expect(await readInvalidFields({ ...event, occurredAt })).toEqual(['occurredAt', 'sourceSignOnEventId']);
  });

  it('for a type in lower case or no type', async () => {
    for (const type of ['sign_on', 'SIGN_ON ', '', null, ['SIGN_ON'], 1]) {
      expect(await readInvalidFields({ ...aSignOn(worker), type })).toEqual(['type']);
    }
  });

  const send = (payload: string) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return service.request({ method: 'POST', url: signOnEventsPath(), headers, payload });
  };

  it('for an empty body, with every required field', async () => {
    const response = await send('');
    expect(response.statusCode).toBe(400);
    expect(response.json().errors).toHaveLength(4);
  });

  it.each(['[]', '"x"', 'null', '[{"sourceEventId":"x"}]'])(
    'for the body %s, which is not an object',
    async (payload) => {
      const response = await send(payload);
      expect(response.statusCode).toBe(400);
      expect(response.json().errors).toEqual([{ fieldName: 'body', message: 'must be an object' }]);
    },
  );
});

describe('401 and 403', () => {
  it('without a token, and without write:sign_on_events (ATT-6)', async () => {
    expect(
      (await service.request({ method: 'POST', url: signOnEventsPath(), payload: aSignOn(worker) })).statusCode,
    ).toBe(401);
    const other = await service.tokenOf('A', ['read:builders']);
    const { status, body } = await sendEvent(service.app, other, {});
    expect([status, body.code]).toEqual([403, 'INSUFFICIENT_SCOPE']);
  });

  it("for a builder that is not connected, or whose connection doesn't allow the scope", async () => {
    const stranger = await sendEvent(service.app, await service.tokenOf('B'), aSignOn(worker));
    expect([stranger.status, stranger.body.code]).toEqual([403, 'FORBIDDEN']);
  });

  it.each([
    ['a worker without a relationship to the project', () => createGateFixture().workers.none[0]!],
    ['an unknown worker', () => 'wkr_nosuch'],
    ['an unknown worker in capitals, as the pattern allows', () => 'wkr_NoSuch'],
  ])('for %s (ATT-7)', async (_, workerId) => {
    const { status, body } = await post(aSignOn(workerId()));
    expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
    const { events, conflicts } = await readAttendance(service);
    expect([...events, ...conflicts].filter((row) => row.workerId === workerId())).toEqual([]);
  });
});

describe('404', () => {
  it('for a project of another builder, an unknown project and an invalid id (ATT-9)', async () => {
    const { builderId, projectId } = createGateFixture();
    const other = service.findDemoClient('A').builderIds.find((id) => id !== builderId)!;
    for (const url of [
      signOnEventsPath({ builderId: other, projectId } as never),
      signOnEventsPath({ builderId, projectId: 'proj_nosuch' } as never),
      signOnEventsPath({ builderId, projectId: 'nonsense' } as never),
      signOnEventsPath({ builderId: 'buil_nosuch', projectId } as never),
    ]) {
      const { status, body } = await post(aSignOn(worker), url);
      expect([status, body.code]).toEqual([404, 'NOT_FOUND']);
    }
  });

  it('only after the validation: an invalid body for an unknown project is 400 (ATT-9)', async () => {
    expect((await post({}, signOnEventsPath({ ...createGateFixture(), projectId: 'proj_nosuch' }))).status).toBe(400);
  });
});

describe('GraphQL', () => {
  const MUTATION = `mutation ($builderId: BuilderId!, $projectId: ProjectId!, $sourceEventId: GateText!, $sourceSignOnEventId: GateText,
      $workerId: GateWorkerId!, $type: SignOnType!, $occurredAt: GateInstant!, $deviceId: GateText) {
    recordSignOnEvent(builderId: $builderId, projectId: $projectId, sourceEventId: $sourceEventId, workerId: $workerId,
      sourceSignOnEventId: $sourceSignOnEventId, type: $type, occurredAt: $occurredAt, deviceId: $deviceId) {
      data { id sourceEventId status signOnId duplicate }
    }
  }`;
  const { builderId, projectId } = createGateFixture();
  const record = (event: object, as = token) => service.graphql(as, MUTATION, { builderId, projectId, ...event });

  it('accepts the same events under the same identity (ATT-5)', async () => {
    const event = aSignOn(worker);
    const { body } = await post(event);
    const { data } = await record(event);
    expect(data.recordSignOnEvent.data).toEqual({ ...body.data, duplicate: true });
  });

  it("accepts an event 5,000 ms ahead of the server's clock and rejects one 5,001 ms ahead", async () => {
    const at = (ahead: number) => new Date(service.clock.now() + ahead).toISOString();
    const taken = await record({ ...aSignOn(worker), occurredAt: at(5_000) });
    expect(taken.data.recordSignOnEvent.data).toMatchObject({ status: 'APPLIED' });
    const refused = await record({ ...aSignOn(worker), occurredAt: at(5_001) });
    expect(refused.errors![0]!.extensions).toMatchObject({
      http: { status: 400 },
      errors: [{ fieldName: 'occurredAt', message: expect.stringContaining('6 seconds ahead') }],
    });
  });

  it('returns the same field errors (ATT-5)', async () => {
    const event = aSignOn(worker);
    await post(event);
    const mismatch = await record({ ...event, deviceId: 'x' });
    expect(mismatch.errors![0]!.extensions).toEqual({ code: 'EVENT_MISMATCH', http: { status: 409 } });
    const early = await record({ ...aSignOn(worker), occurredAt: '2026-06-02T00:00:00Z', sourceSignOnEventId: 'x' });
    expect(early.errors![0]!.extensions).toMatchObject({
      http: { status: 400 },
      errors: [{ fieldName: 'sourceSignOnEventId' }, { fieldName: 'occurredAt' }],
    });
    const unknown = await record(aSignOn('wkr_nosuch'));
    expect(unknown.errors![0]!.extensions).toMatchObject({ code: 'FORBIDDEN', http: { status: 403 } });
  });

  it('rejects events of an internal client (ATT-6)', async () => {
    const internal = await record(aSignOn(worker), await service.tokenOf('internal'));
    expect(internal.errors![0]!.extensions).toMatchObject({ code: 'INSUFFICIENT_SCOPE' });
    const em = service.databases.au1.fork();
    const { clientId } = service.findDemoClient('internal');
    await em.execute(`update oauth_client set scopes = scopes || 'write:sign_on_events'::text where id = ?`, [
      clientId,
    ]);
    service.clock.advance(1_000);
    const scoped = await service.createToken({ clientId, scope: 'write:sign_on_events' });
    expect((await record(aSignOn(worker), scoped)).errors![0]!.extensions).toMatchObject({ code: 'FORBIDDEN' });
  });
});
