import { auditServer } from 'graphql-http';
import { beforeAll, describe, expect, it } from 'vitest';
import { useService } from '../support/harness.ts';

const service = useService();
let url: string;
let authorization: string;

beforeAll(async () => {
  url = `${await service.app.listen({ host: '127.0.0.1', port: 0 })}/graphql`;
  authorization = `Bearer ${await service.tokenOf('A')}`;
});

describe('GraphQL over HTTP', () => {
  it('has no error in the audits of graphql-http', async () => {
    const audits = await auditServer({
      url,
      fetchFn: (target: string, init: RequestInit = {}) =>
        fetch(target, { ...init, headers: { ...(init.headers as Record<string, string>), authorization } }),
    });
    expect(audits.length).toBeGreaterThan(50);
    expect(audits.filter(({ status }) => status === 'error')).toEqual([]);
  });

  it.each(['[', '%', 'a b', 'xn--a', '1.2.3.256'])('is 400 with "%s" as the host (ERR-7)', async (host) => {
    const headers = { authorization, host };
    const payload = { query: '{ __typename }' };
    const response = await service.app.inject({ method: 'POST', url: '/graphql', headers, payload });
    expect([response.statusCode, response.json().errors]).toMatchObject([
      400,
      [{ extensions: { errors: [{ fieldName: 'Host', message: 'must be the name of a host' }] } }],
    ]);
  });

  it('shows a browser the Sandbox page, without a token (ACC-17)', async () => {
    const response = await fetch(url, { headers: { accept: 'text/html' } });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Apollo');
  });
});
