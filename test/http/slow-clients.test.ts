import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../schema/ids.ts';
import { ConcurrentTransaction } from '../support/concurrent-transaction.ts';
import { addStaff, signInToConsole } from '../support/console.ts';
import { type Service, startService } from '../support/harness.ts';
import { untilClosed } from '../support/until-closed.ts';

let service: Service;
let port: number;

beforeAll(async () => {
  service = await startService();
  await service.app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = service.app.server.address() as AddressInfo);
});

afterAll(() => service.stop());

describe('a connection', () => {
  it('may have 4 concurrent requests, and is closed with the 5th (LIM-24)', async () => {
    const send = async (count: number) => {
      const socket = connect(port, '127.0.0.1');
      socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(count - 1));
      socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      await untilClosed(socket);
      return text.split('HTTP/1.1 200').length - 1;
    };
    expect(await send(4)).toBe(4);
    expect(await send(200)).toBeLessThan(4);
  });

  it('has time limits for its headers, for the whole request, and without traffic (LIM-23)', async () => {
    const impatient = await startService({ REQUEST_SECONDS: '1' });
    const { headersTimeout, requestTimeout, timeout } = impatient.app.server;
    await impatient.stop();
    // Node would allow the request the time of its headers, where that is longer.
    expect({ headersTimeout, requestTimeout, timeout }).toEqual({
      headersTimeout: 1_000,
      requestTimeout: 1_000,
      timeout: 120_000,
    });
    const { server } = service.app;
    expect([server.headersTimeout, server.requestTimeout]).toEqual([60_000, 900_000]);
  });

  it('stays open after 413, so that a client that is still sending reads the response (LIM-10)', async () => {
    const socket = connect(port, '127.0.0.1');
    const length = 2 * 1_048_576;
    const authorization = `Bearer ${await service.tokenOf('A')}`;
    const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
    const headers = ['Host: localhost', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    socket.write([`POST ${path} HTTP/1.1`, ...headers, `Content-Length: ${length}`, '', ''].join('\r\n'));
    const [rejected] = await once(socket, 'data');
    expect(String(rejected)).toMatch(/^HTTP\/1\.1 413 /);
    socket.write(' '.repeat(length));
    socket.write('GET /health/live HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    const [next] = await once(socket, 'data');
    expect(String(next)).toMatch(/^HTTP\/1\.1 200 /);
    socket.destroy();
  });

  it('that closes while its requests are authenticated leaves their places to others (LIM-30)', async () => {
    const authorization = `Bearer ${await service.tokenOf('A')}`;
    const path = `/builders/${service.findDemoClient('A').builderIds[0]}/meetings`;
    const body = JSON.stringify({ title: 'Toolbox talk' });
    const headers = ['Host: localhost', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    const text = [`POST ${path} HTTP/1.1`, ...headers, `Content-Length: ${body.length}`, '', body].join('\r\n');
    const { server } = service.app;
    let received = 0;
    server.on('request', () => received++);
    const transaction = await ConcurrentTransaction.open(service.databases.au1.url);
    await transaction.whileOpen('lock table oauth_client in access exclusive mode', [], async () => {
      // A share executes 64 requests at a time.
      const sockets = Array.from({ length: 100 }, () =>
        connect(port, '127.0.0.1', function (this: Socket) {
          this.write(text);
        }),
      );
      await expect.poll(() => received).toBe(100);
      for (const socket of sockets) socket.destroy();
      const count = promisify(server.getConnections.bind(server));
      await expect.poll(() => count()).toBe(0);
    });
    await transaction.close();
    const response = await service.app.inject({
      ...{ method: 'POST', url: path, headers: { authorization }, payload: { title: 'Toolbox talk' } },
    });
    expect(response.statusCode).toBe(201);
  });

  it('is closed when its request does not end in time (LIM-23)', async () => {
    const impatient = await startService({ REQUEST_SECONDS: '1' });
    await impatient.app.listen({ host: '127.0.0.1', port: 0 });
    const { port: itsPort } = impatient.app.server.address() as AddressInfo;
    const authorization = `Bearer ${await impatient.tokenOf('A')}`;
    const path = `/builders/${impatient.findDemoClient('A').builderIds[0]}/meetings`;
    const headers = ['Host: localhost', `Authorization: ${authorization}`, 'Content-Type: application/json'];
    const socket = connect(itsPort, '127.0.0.1');
    const closed = untilClosed(socket.resume());
    socket.write([`POST ${path} HTTP/1.1`, ...headers, 'Content-Length: 1000', '', '{'].join('\r\n'));
    const drip = setInterval(() => socket.write(' '), 100);
    await closed;
    clearInterval(drip);
    // Other connections stay open.
    expect((await fetch(`http://127.0.0.1:${itsPort}/health/live`)).status).toBe(200);
    await impatient.stop();
  });
});

describe('a request whose body is received after access has ended (ACC-5)', () => {
  const multipart =
    '--b\r\nContent-Disposition: form-data; name="type"\r\n\r\nattachment\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\nContent-Type: image/jpeg\r\n\r\nx\r\n--b--\r\n';
  const deletion = (builderId: string) => ({
    ...{ method: 'DELETE', path: `/builders/${builderId}/photo-folders/${newId('folder', 0)}` },
    type: 'application/json',
  });
  interface Case {
    method?: string;
    path: string;
    type: string;
    length?: string;
    body: string;
  }
  const cases: Record<string, (builderId: string) => Case> = {
    'deletes nothing (null)': (builderId) => ({ ...deletion(builderId), body: 'null' }),
    'deletes nothing (no chunks)': (builderId) => ({
      ...{ ...deletion(builderId), length: 'Transfer-Encoding: chunked', body: '0\r\n\r\n' },
    }),
    'reads nothing': (builderId: string) => ({
      ...{ path: '/graphql', type: 'application/json' },
      body: JSON.stringify({ query: `{ projects(builderId: "${builderId}") { data { name } } }` }),
    }),
    'writes nothing': (builderId: string) => ({
      ...{ path: `/builders/${builderId}/photo-folders`, type: 'application/json', body: '{"name":"Late"}' },
    }),
    'uploads nothing': (builderId: string) => ({
      path: `/builders/${builderId}/attachments/upload`,
      type: 'multipart/form-data; boundary=b',
      body: multipart,
    }),
  };
  const client = () => service.findDemoClient('A');
  const builderOf = () => client().builderIds[0]!;
  const run = (sql: string) => service.databases.au1.fork().execute(sql);
  const membershipOf = (id: string) => `where user_id = '${id}' and builder_id = '${builderOf()}'`;
  const userOf = () => service.findDemoUser(({ builderIds }) => builderIds.includes(builderOf())).id;

  it.each([
    ["update app_user set disabled_at = now() where id = 'user_admin'", 'audit(limit: 1) { data { id } }', 401],
    ["update app_user set staff_role = 'VIEWER' where id = 'user_admin'", 'audit(limit: 1) { data { id } }', 403],
    [
      ...["update app_user set staff_role = 'VIEWER' where id = 'user_admin'"],
      ...['photoReports(builderId: "BUILDER") { data { sourceAuthor { name } } }', 403],
    ],
  ])('reads nothing in the console: %s, %s (CON-2)', async (change, field, status) => {
    const email = await addStaff(service, 'ADMIN');
    const browser = await signInToConsole(service.app, email);
    const query = `{ ${String(field).replace('BUILDER', builderOf())} }`;
    // The same reads are not recorded again.
    expect((await browser.query(query)).errors).toBeUndefined();
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const body = JSON.stringify({ query });
    const headers = ['Host: localhost', `Cookie: ${cookie}`, 'x-console-csrf: 1', 'Content-Type: application/json'];
    const socket = connect(port, '127.0.0.1');
    let authenticated = false;
    const end = service.databases.au1.onStatement(({ name }) => {
      authenticated ||= name === 'console.staff';
    });
    const lines = ['POST /console/graphql HTTP/1.1', ...headers, `Content-Length: ${body.length}`, '', body[0]];
    socket.write(lines.join('\r\n'));
    await expect.poll(() => authenticated).toBe(true);
    end();
    // Until its answer is there.
    await service.get('/me', await service.tokenOf('A'));
    await run(String(change));
    service.clock.advance(1_000);
    socket.write(body.slice(1));
    const [response] = await once(socket, 'data');
    socket.destroy();
    await run("delete from console_session where user_id = 'user_admin'");
    await run("delete from app_user where id = 'user_admin'");
    expect(String(response)).toMatch(new RegExp(`^HTTP/1.1 ${status} |"status":${status}`));
  });

  it.each(Object.keys(cases))('%s', async (name) => {
    for (const end of ['membership', 'connection', 'scopes', 'client']) {
      const user = end === 'membership' ? { userId: userOf(), builderId: builderOf() } : {};
      const token = await service.createToken({ clientId: client().clientId, scope: client().scopes, ...user });
      expect((await service.get('/me', token)).statusCode).toBe(200);
      const {
        method = 'POST',
        path,
        type,
        body,
        length = `Content-Length: ${body.length}`,
      } = cases[name]!(builderOf());
      const socket = connect(port, '127.0.0.1');
      const begun = once(service.app.server, 'request');
      const headers = ['Host: localhost', `Authorization: Bearer ${token}`, `Content-Type: ${type}`];
      socket.write([`${method} ${path} HTTP/1.1`, ...headers, length, '', body[0]].join('\r\n'));
      await begun;
      const [role] = (await run(`select role from membership ${membershipOf(userOf())}`)) as { role: string }[];
      const scopes = `{${client().scopes.join()}}`;
      const of = `where builder_id = '${builderOf()}'`;
      if (end === 'membership') await run(`delete from membership ${membershipOf(userOf())}`);
      else if (end === 'connection') await run(`update connection set status = 'REVOKED' ${of}`);
      else if (end === 'scopes') await run(`update connection set scopes = '{read:events}' ${of}`);
      else await run(`update oauth_client set scopes = '{read:events}' where id = '${client().clientId}'`);
      service.clock.advance(1_000);
      socket.write(body.slice(1));
      const [response] = await once(socket, 'data');
      socket.destroy();
      if (end === 'membership')
        await run(`insert into membership (user_id, builder_id, role, created_at, updated_at)
          values ('${userOf()}', '${builderOf()}', '${role!.role}', now(), now())`);
      await run(`update connection set status = 'ACTIVE', scopes = '${scopes}' ${of}`);
      await run(`update oauth_client set scopes = '${scopes}' where id = '${client().clientId}'`);
      service.clock.advance(1_000);
      // Uploads need no scope.
      if (name === 'uploads nothing' && ['scopes', 'client'].includes(end)) continue;
      expect(String(response), end).toMatch(/^HTTP\/1\.1 40[13] /);
    }
  });
});
