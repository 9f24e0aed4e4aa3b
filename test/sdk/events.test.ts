import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Client, CursorExpiredError, createClient, type Event } from '../../sdk/src/index.ts';
import { renewEpoch } from '../../src/domain/events/event-log.ts';
import { numberPendingEvents } from '../support/events.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';

let service: Service;
let client: Client;
let builderId: string;

beforeAll(async () => {
  service = await startService();
  const baseUrl = await service.app.listen({ port: 0 });
  const { clientId, clientSecret, scopes, builderIds } = service.findDemoClient('A');
  client = createClient({
    baseUrl,
    audience: BASE_URL,
    clientId,
    clientSecret: clientSecret!,
    scopes,
    retryDelayMs: 1,
  });
  builderId = builderIds[0]!;
  await numberPendingEvents(service.databases.au1);
});

afterAll(() => service?.stop());

const createMeeting = (title: string) =>
  client.meetings.create({ builderId, title, sourceApp: 'sdk', externalSourceId: title });

describe('events.follow', () => {
  it('begins now, and yields what happens with a cursor to continue from', async () => {
    const ending = new AbortController();
    const feed = client.events.follow({ types: ['meeting.created'], signal: ending.signal });
    const first = (await feed.next()).value!;
    expect(first.events).toEqual([]);
    const one = await createMeeting('One');
    await numberPendingEvents(service.databases.au1);
    const second = (await feed.next()).value!;
    expect(second.events.map(({ resource }: Event) => resource.id)).toEqual([one.id]);
    ending.abort();
    await expect(feed.next()).rejects.toThrow();

    const two = await createMeeting('Two');
    await numberPendingEvents(service.databases.au1);
    const { value } = await client.events.follow({ after: second.cursor, types: ['meeting.created'] }).next();
    expect(value!.events.map(({ resource }: Event) => resource.id)).toEqual([two.id]);
  });

  it('throws a typed error for a cursor that has expired', async () => {
    const { meta } = await client.events.page({});
    await renewEpoch(service.databases.au1);
    const reading = client.events.follow({ after: meta.nextCursor }).next();
    await expect(reading).rejects.toThrow(CursorExpiredError);
  });
});
