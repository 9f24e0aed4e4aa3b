import { deriveCsrfToken } from '../../../../src/oauth/interaction/csrf-token.ts';
import { newSecret } from '../../../../src/shared/secrets.ts';
import { type Attack, get } from '../attack.ts';
import type { HttpRequest } from '../http-client.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

export const oauthAttacks: Attack[] = [
  {
    ...{ name: 'oauth-public-client', finding: '4', short: true },
    about: "Invalid refresh requests with the id of the victim's public client, from one address, at full rate",
    run: (session) => {
      const { publicClientId } = session.scenario.victim;
      return session.flood(16, (number) => ({
        ...{ method: 'POST', path: '/oauth/token', headers: FORM },
        body: new URLSearchParams({
          ...{ grant_type: 'refresh_token', client_id: publicClientId },
          refresh_token: `invalid-${number}`,
        }).toString(),
      }));
    },
  },
  {
    name: 'oauth-public-client-addresses',
    about: 'The same from 20 addresses, and invalid codes, 120 requests from each',
    run: (session) => {
      const { publicClientId, redirectUri } = session.scenario.victim;
      return session.flood(20, (number) => ({
        ...{ method: 'POST', path: '/oauth/token', headers: FORM, localAddress: `127.0.1.${(number % 20) + 1}` },
        body: new URLSearchParams({
          ...{ grant_type: number % 2 ? 'refresh_token' : 'authorization_code', client_id: publicClientId },
          ...{ refresh_token: `invalid-${number}`, code: `invalid-${number}`, redirect_uri: redirectUri },
          code_verifier: 'v'.repeat(43),
        }).toString(),
      }));
    },
  },
  {
    ...{ name: 'oauth-parameters', finding: '5', short: true },
    about: '`GET /oauth/authorize` with 2,900 different parameters, without a token, 16 connections',
    run: (session) => {
      const names = Array.from({ length: 2_900 }, (_, at) => `${at.toString(36)}=`).join('&');
      return session.flood(16, () => ({ path: `/oauth/authorize?${names}` }));
    },
  },
  {
    name: 'oauth-form-parameters',
    about: 'Token requests whose form or JSON has tens of thousands of parameters, from 20 addresses',
    run: (session) => {
      const pairs = Array.from({ length: 50_000 }, (_, at) => `${at.toString(36)}=1`);
      const form = pairs.join('&');
      const json = JSON.stringify(Object.fromEntries(pairs.map((pair) => pair.split('='))));
      return session.flood(20, (number) => ({
        ...{ method: 'POST', path: '/oauth/token', localAddress: `127.0.1.${(number % 20) + 1}` },
        headers: number % 2 ? FORM : { 'content-type': 'application/json' },
        body: number % 2 ? form : json,
      }));
    },
  },
  {
    name: 'oauth-secrets',
    about: "Wrong secrets for the victim's confidential client, from 20 addresses, at full rate",
    run: (session) => {
      const { clientId } = session.scenario.victim.clients[0]!;
      return session.flood(40, (number) => ({
        ...{ method: 'POST', path: '/oauth/token', headers: FORM, localAddress: `127.0.1.${(number % 20) + 1}` },
        body: new URLSearchParams({
          ...{ grant_type: 'client_credentials', client_id: clientId, client_secret: `wrong-${number}` },
          ...{ audience: session.order.baseUrl, scope: 'read:builders' },
        }).toString(),
      }));
    },
  },
  {
    name: 'oauth-sign-in',
    about: 'Sign-in with wrong passwords (argon2id) from 60 addresses, at full rate',
    run: async (session) => {
      const addresses = Array.from({ length: 60 }, (_, at) => `127.0.1.${at + 1}`);
      const client = session.client(60);
      const work = async (localAddress: string, at: number) => {
        const path = '/reports/sign-in?to=phrep_a0attack';
        const browserId = newSecret();
        const headers = { ...FORM, cookie: `session-au1=${browserId}; session-us1=${browserId}` };
        for (let number = 0; !session.isOver; number++) {
          const email = `${at}-${number}@attack.example`;
          const fields = { csrf: deriveCsrfToken(browserId), email, password: 'wrong' };
          const body = new URLSearchParams(fields).toString();
          await session.send(client, { method: 'POST', path, localAddress, headers, body });
        }
      };
      await Promise.all(addresses.map(work));
    },
  },
  {
    name: 'sign-in-parallel',
    about: 'Sign-in forms of one address, 480 at once',
    run: (session) => {
      const browserId = newSecret();
      const headers = { ...FORM, cookie: `session-au1=${browserId}; session-us1=${browserId}` };
      return session.flood(480, (number) => {
        const email = `${number}@attack.example`;
        const fields = { csrf: deriveCsrfToken(browserId), email, password: 'wrong' };
        const body = new URLSearchParams(fields).toString();
        return { method: 'POST', path: '/reports/sign-in?to=phrep_a0attack', headers, body };
      });
    },
  },
  {
    ...{ name: 'accept-encoding', short: true },
    about: 'The OpenAPI document with 15,500 spaces in `Accept-Encoding`, without a token, 16 connections',
    run: (session) => {
      const headers = { 'accept-encoding': `a${' '.repeat(15_500)}b` };
      return session.flood(16, () => ({ path: '/openapi.json', headers }));
    },
  },
  {
    name: 'token-of-other-region',
    about: 'A token of the other region, 600 connections',
    run: (session) =>
      session.flood(600, (number) => {
        const { headers, ...request } = get(session.attacker, number, '/builders');
        return { ...request, headers: { ...headers, 'x-service-region-id': 'us1' } };
      }),
  },
  {
    name: 'unauthenticated',
    about: 'Requests without a token from 40 addresses: unknown paths, OPTIONS, HEAD, documents, forged tokens',
    run: (session) => {
      const forged = `Bearer ${session.attacker.clients[0]!.token.slice(0, -4)}AAAA`;
      const requests: HttpRequest[] = [
        { path: '/unknown' },
        {
          method: 'OPTIONS',
          path: '/builders',
          headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' },
        },
        { method: 'HEAD', path: '/builders' },
        { path: '/openapi.json' },
        { path: '/builders', headers: { authorization: forged } },
        { path: '/docs' },
        { path: `/builders?${'x'.repeat(15_000)}`, headers: { 'x-padding': 'x'.repeat(500) } },
      ];
      return session.flood(200, (number) => ({
        ...requests[number % requests.length]!,
        localAddress: `127.0.1.${(number % 40) + 1}`,
      }));
    },
  },
];
