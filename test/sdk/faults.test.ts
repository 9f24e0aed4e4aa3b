import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { OAuthClient } from '../../entities/oauth-client.entity.ts';
import {
  type Client,
  ConnectionError,
  createClient,
  NotFoundError,
  RateLimitedError,
  SignInRequiredError,
  type StoredTokens,
  UnauthenticatedError,
} from '../../sdk/src/index.ts';
import { obtainTokens } from '../oauth/code-flow.ts';
import { addApplication, addUser } from '../oauth/fixtures.ts';
import { BASE_URL, type Service, startService } from '../support/harness.ts';
import { FaultyNetwork } from './faulty-network.ts';

let service: Service;
let network: FaultyNetwork;
let client: Client;
let builderId: string;

beforeAll(async () => {
  service = await startService();
  network = await FaultyNetwork.start(service);
  builderId = service.findDemoClient('A').builderIds[0]!;
});

afterAll(async () => {
  network.close();
  await service.stop();
});

beforeEach(() => {
  network.reset();
  client = createClient(applicationOptions());
});

afterEach(() => {
  vi.restoreAllMocks();
});

function applicationOptions() {
  const { clientId, clientSecret, scopes } = service.findDemoClient('A');
  return { baseUrl: network.url, audience: BASE_URL, clientId, clientSecret: clientSecret!, scopes, retryDelayMs: 1 };
}

/** Returns the id of the integrator of client A. */
async function readIntegratorId(): Promise<string> {
  const { clientId } = service.findDemoClient('A');
  return (await service.databases.au1.fork().findOneOrFail(OAuthClient, { id: clientId })).integratorId!;
}

const routes = () => network.requests.map(({ route }) => route);
const readProjects = () => client.projects.list({ builderId, limit: 1 }).page();

describe('a request', () => {
  it('is sent again after 429, 503, 5xx of a proxy, a lost response and one that ends in the middle', async () => {
    await readProjects();
    network.faults = [429, 503, 502, 'lost', 'cut'];
    const { data } = await readProjects();
    expect(data).toHaveLength(1);
    expect(routes().filter((route) => route.includes('/projects'))).toHaveLength(7);
  });

  it('ends with the last failure after five retries', async () => {
    await readProjects();
    network.faults = Array(6).fill(429);
    await expect(readProjects()).rejects.toThrow(RateLimitedError);
    network.faults = Array(6).fill('refused');
    await expect(readProjects()).rejects.toThrow(ConnectionError);
    expect(network.faults).toEqual([]);
  });

  it('is named by its error without the query, which is the signature of an upload', async () => {
    const send: typeof fetch = (request, init) =>
      (request as Request).url.includes('signature=') ? Promise.reject(new TypeError('cut')) : fetch(request, init);
    const uploading = createClient({ ...applicationOptions(), fetch: send });
    const uploaded = uploading.photos.upload(new File(['x'], 'a.png', { type: 'image/png' }), { builderId });
    await expect(uploaded).rejects.toThrow(/^PUT \S+\/storage\/au1\/uploads\/[^?]+: no response\.$/);
  });

  it('waits as long as Retry-After says', async () => {
    await readProjects();
    network.faults = [503];
    network.retryAfter = '1';
    const startedAt = performance.now();
    await readProjects();
    expect(performance.now() - startedAt).toBeGreaterThan(990);
  });

  it('is left to the caller where the wait is longer than five minutes', async () => {
    await readProjects();
    network.faults = [429];
    network.retryAfter = '86400';
    await expect(readProjects()).rejects.toMatchObject({ code: 'HTTP_429', retryAfter: 86_400 });
  });

  it('ends with its signal, also while it waits for a retry', async () => {
    await readProjects();
    network.faults = [503];
    network.retryAfter = '60';
    const ending = new AbortController();
    const reading = client.builders.get({ builderId }, { signal: ending.signal });
    await expect.poll(() => network.requests.length).toBe(3);
    ending.abort(new Error('The user has left.'));
    await expect(reading).rejects.toThrow('The user has left.');
  });

  it('that is wrong is not sent again', async () => {
    await readProjects();
    await client.projects.get({ builderId, projectId: 'proj_a0' }).catch(() => {});
    expect(routes()).toHaveLength(3);
  });
});

describe('a write', () => {
  it('that is repeated after a lost response writes once', async () => {
    await readProjects();
    network.faults = ['lost'];
    const meeting = { builderId, title: 'Once', sourceApp: 'sdk', externalSourceId: 'once' };
    const created = await client.meetings.create(meeting);
    expect((await client.meetings.create(meeting)).id).toBe(created.id);
  });

  it('that creates carries a key: a lost response creates one record', async () => {
    await readProjects();
    network.faults = ['lost', 'cut'];
    const folder = await client.photoFolders.create({ builderId, name: 'Once' });
    const { data } = await client.photoFolders.list({ builderId }).page();
    expect(data.filter(({ name }) => name === 'Once')).toEqual([folder]);
  });

  it('without an identifier of its own creates one record for each call, however often it is sent', async () => {
    await readProjects();
    const create = () => client.meetings.create({ builderId, title: 'Toolbox talk' });
    network.faults = ['lost', 'cut', 503, 429, 'lost'];
    const first = await create();
    const second = await create();
    expect(second.id).not.toBe(first.id);
    const ids: string[] = [];
    for await (const { id, title } of client.meetings.list({ builderId })) if (title === 'Toolbox talk') ids.push(id);
    expect(ids.sort()).toEqual([first.id, second.id].sort());
  });

  it('that deletes counts a 404 after a lost response as done', async () => {
    const { id: folderId } = await client.photoFolders.create({ builderId, name: 'Gone' });
    network.faults = ['lost'];
    expect(await client.photoFolders.delete({ builderId, folderId })).toBeUndefined();
    await expect(client.photoFolders.delete({ builderId, folderId })).rejects.toThrow(NotFoundError);
  });

  it('that must not happen twice is sent again only when it was rejected', async () => {
    const { id } = await client.webhookEndpoints.create({ url: 'https://hooks.example.com/sdk' });
    network.faults = [503, 'lost'];
    await expect(client.webhookEndpoints.rotateSecret({ webhookEndpointId: id })).rejects.toThrow(ConnectionError);
    expect(routes().filter((route) => route.endsWith('rotate-secret'))).toHaveLength(2);
  });
});

describe('the token of an application', () => {
  const countTokenRequests = () => routes().filter((route) => route === 'POST /oauth/token').length;

  it('is requested once for calls at the same time, and kept', async () => {
    await Promise.all([readProjects(), readProjects(), readProjects()]);
    await readProjects();
    expect(countTokenRequests()).toBe(1);
  });

  it('is renewed before it ends, by a clock that nobody can set wrong', async () => {
    await readProjects();
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 5 * 60_000);
    await readProjects();
    expect(countTokenRequests()).toBe(1);
    const now = performance.now();
    vi.spyOn(performance, 'now').mockReturnValue(now + 3_540_000);
    await readProjects();
    expect(countTokenRequests()).toBe(2);
  });

  it('that was revoked in between is replaced once', async () => {
    await readProjects();
    const { clientId: client_id, clientSecret: client_secret } = service.findDemoClient('A');
    const revocation = {
      method: 'POST' as const,
      url: '/oauth/revoke',
      payload: { token: network.requests.at(-1)!.token, client_id, client_secret },
    };
    expect((await service.request(revocation)).statusCode).toBe(200);
    await readProjects();
    const [, read] = routes();
    expect(routes().slice(2)).toEqual([read, 'POST /oauth/token', read]);
  });

  it('that is never accepted ends with an error', async () => {
    const wrong = createClient({ ...applicationOptions(), clientSecret: 'wrong' });
    await expect(wrong.identity.get()).rejects.toThrow(UnauthenticatedError);
  });
});

describe('the tokens of a person', () => {
  let stored: StoredTokens;
  const createUserClient = () => {
    let turn = Promise.resolve() as Promise<unknown>;
    const tokens = {
      load: async () => stored,
      save: async (saved: StoredTokens) => {
        stored = saved;
      },
      lock: <T>(run: () => Promise<T>): Promise<T> => {
        const next = turn.then(run);
        turn = next.catch(() => {});
        return next;
      },
    };
    return createClient({ baseUrl: network.url, audience: BASE_URL, clientId: 'cli_sdk', tokens, retryDelayMs: 1 });
  };

  beforeAll(async () => {
    await addUser(service, 'user_sdk', [builderId]);
    await addApplication(service, 'cli_sdk', { integratorId: await readIntegratorId() });
  });

  beforeEach(async () => {
    const flow = { clientId: 'cli_sdk', email: 'user_sdk@example.com' };
    stored = { refreshToken: (await obtainTokens(service, flow)).refresh_token };
  });

  it('are refreshed once for calls at the same time, and stored', async () => {
    const before = stored.refreshToken;
    const user = createUserClient();
    const [me] = await Promise.all([user.identity.get(), user.identity.get()]);
    expect(me.type).toBe('user');
    expect(routes().filter((route) => route === 'POST /oauth/token')).toHaveLength(1);
    expect(stored.refreshToken).not.toBe(before);
  });

  it('serve the next process without a refresh', async () => {
    await createUserClient().identity.get();
    network.requests = [];
    await createUserClient().identity.get();
    expect(routes()).toEqual(['GET /me']);
  });

  it('are lost with the response of a refresh: the person signs in again', async () => {
    network.faults = ['lost'];
    await expect(createUserClient().identity.get()).rejects.toThrow(SignInRequiredError);
    expect(routes()).toEqual(['POST /oauth/token', 'POST /oauth/token']);
  });

  it('survive a refresh that never arrived', async () => {
    network.faults = ['refused', 503];
    expect((await createUserClient().identity.get()).type).toBe('user');
  });
});
