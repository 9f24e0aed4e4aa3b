import { createHmac, hkdfSync } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose';
import { describe, expect, test } from 'vitest';
import { AccessTokens, toKeyId } from '../../src/auth/access-tokens.ts';
import { REGIONS } from '../../src/shared/regions.ts';
import { newSecret } from '../../src/shared/secrets.ts';
import { toNonCanonicalTokens } from '../support/jwt.ts';
import { BASE_URL, createSettableClock, OAUTH_START } from './service.ts';

const MINUTE = 60_000;
const key = newSecret();
const keyBytes = Buffer.from(hkdfSync('sha256', Buffer.from(key, 'base64url'), '', 'access tokens au1 v1', 32));
const kid = `au1.${toKeyId(key)}`;
const claims = { sub: 'cli_a', client_id: 'cli_a', scope: 'read:builders' };

const createTokens = () => {
  const clock = createSettableClock();
  return { clock, tokens: new AccessTokens({ keys: [key], issuer: BASE_URL, clock }) };
};

/** Signs a token that is valid except for the changes. */
const createForgedToken = (
  change: { issuer?: string; audience?: string; key?: Uint8Array; alg?: string; kid?: string } = {},
) =>
  new SignJWT(claims)
    .setProtectedHeader({ alg: change.alg ?? 'HS256', typ: 'JWT', kid: 'kid' in change ? change.kid : kid })
    .setIssuer(change.issuer ?? BASE_URL)
    .setAudience(change.audience ?? BASE_URL)
    .setJti('jti')
    .setIssuedAt(OAUTH_START / 1000)
    .setExpirationTime(OAUTH_START / 1000 + 3600)
    .sign(change.key ?? keyBytes);

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

describe('an access token', () => {
  test('is a JWT signed with HMAC-SHA256 with the claims of the contract (OAU-14)', async () => {
    const { tokens } = createTokens();
    const { token, jti } = tokens.sign('au1', claims);
    expect(decodeProtectedHeader(token)).toEqual({
      alg: 'HS256',
      typ: 'JWT',
      kid: expect.stringMatching(/^au1\.[\w-]{11}$/),
    });
    const iat = OAUTH_START / 1000;
    expect(decodeJwt(token)).toEqual({ ...claims, iss: BASE_URL, aud: BASE_URL, jti, iat, exp: iat + 3600 });
    const [header, payload, signature] = token.split('.');
    expect(createHmac('sha256', keyBytes).update(`${header}.${payload}`).digest('base64url')).toBe(signature);
  });

  test('has a unique jti', async () => {
    const { tokens } = createTokens();
    const [one, other] = [tokens.sign('au1', claims), tokens.sign('au1', claims)];
    expect(one.jti).not.toBe(other.jti);
  });

  test('of this issuer is valid', async () => {
    expect(await createTokens().tokens.verify('au1', await createForgedToken())).toMatchObject(claims);
  });

  test('is valid for 3600 seconds (OAU-14)', async () => {
    const { clock, tokens } = createTokens();
    const { token } = tokens.sign('au1', claims);
    clock.at = OAUTH_START + 60 * MINUTE - 1000;
    expect(await tokens.verify('au1', token)).toMatchObject(claims);
    clock.at = OAUTH_START + 60 * MINUTE;
    expect(await tokens.verify('au1', token)).toBeNull();
    clock.at = OAUTH_START + 61 * MINUTE;
    expect(await tokens.verify('au1', token)).toBeNull();
  });
});

describe('a token of a region', () => {
  test('is refused by the other for its signature, also under the kid of that region', async () => {
    const { tokens } = createTokens();
    const { token } = tokens.sign('au1', claims);
    expect(await tokens.verify('au1', token)).toMatchObject(claims);
    expect(await tokens.verify('us1', token)).toBeNull();
    const [, payload, signature] = token.split('.');
    const header = base64url({
      ...decodeProtectedHeader(token),
      kid: decodeProtectedHeader(tokens.sign('us1', claims).token).kid,
    });
    expect(await tokens.verify('us1', `${header}.${payload}.${signature}`)).toBeNull();
  });

  test.each([undefined, toKeyId(key), kid])('has its kid: %s with the key of all regions is refused', async (other) => {
    const { tokens } = createTokens();
    const token = await createForgedToken({ kid: other, key: Buffer.from(key, 'base64url') });
    for (const region of REGIONS) expect(await tokens.verify(region, token), region).toBeNull();
    expect(await tokens.verify('au1', await createForgedToken({ kid: undefined }))).toBeNull();
  });
});

describe('several keys', () => {
  const clock = createSettableClock();
  const [one, other] = [newSecret(), newSecret()];
  const using = (...keys: string[]) => new AccessTokens({ keys, issuer: BASE_URL, clock });

  test('sign with the first, and verify with all', async () => {
    const { token } = using(one, other).sign('au1', claims);
    expect(await using(one).verify('au1', token)).toMatchObject(claims);
    expect(await using(other, one).verify('au1', token)).toMatchObject(claims);
    expect(await using(other).verify('au1', token)).toBeNull();
  });

  test('are named by the kid, which does not depend on the position of the key', async () => {
    const kidOf = async (tokens: AccessTokens) => decodeProtectedHeader(tokens.sign('au1', claims).token).kid;
    expect(await kidOf(using(one, other))).toBe(await kidOf(using(one)));
    expect(await kidOf(using(one))).not.toBe(await kidOf(using(other)));
  });

  test('do not verify a token that names another key', async () => {
    for (const named of ['unknown', `au1.${toKeyId(other)}`])
      expect(await using(key, other).verify('au1', await createForgedToken({ kid: named }))).toBeNull();
    expect(await using(key, other).verify('au1', await createForgedToken())).toMatchObject(claims);
  });
});

describe('a token is rejected (OAU-15)', () => {
  test('with alg none, with and without a signature', async () => {
    const { tokens } = createTokens();
    const [, payload, signature] = (await createForgedToken()).split('.');
    for (const alg of ['none', 'None', 'NONE']) {
      const header = base64url({ alg, typ: 'JWT', kid });
      expect(await tokens.verify('au1', `${header}.${payload}.`)).toBeNull();
      expect(await tokens.verify('au1', `${header}.${payload}.${signature}`)).toBeNull();
    }
  });

  test('with another algorithm and the same key', async () => {
    expect(
      await createTokens().tokens.verify(
        'au1',
        await createForgedToken({ alg: 'HS384', key: Buffer.concat([keyBytes, keyBytes]) }),
      ),
    ).toBeNull();
    expect(
      await createTokens().tokens.verify(
        'au1',
        await createForgedToken({ alg: 'HS512', key: Buffer.concat([keyBytes, keyBytes]) }),
      ),
    ).toBeNull();
    const header = base64url({ alg: 'HS512', typ: 'JWT', kid });
    const [, payload] = (await createForgedToken()).split('.');
    const signature = createHmac('sha512', keyBytes).update(`${header}.${payload}`).digest('base64url');
    expect(await createTokens().tokens.verify('au1', `${header}.${payload}.${signature}`)).toBeNull();
  });

  test('signed with an asymmetric key, or with a key in its own header', async () => {
    const { privateKey } = await generateKeyPair('RS256');
    const token = await new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid }).sign(privateKey);
    expect(await createTokens().tokens.verify('au1', token)).toBeNull();
    const other = Buffer.from(newSecret(), 'base64url');
    const header = base64url({ alg: 'HS256', kid, jwk: { kty: 'oct', k: other.toString('base64url') } });
    const [, payload] = (await createForgedToken()).split('.');
    const signature = createHmac('sha256', other).update(`${header}.${payload}`).digest('base64url');
    expect(await createTokens().tokens.verify('au1', `${header}.${payload}.${signature}`)).toBeNull();
  });

  test('signed with another key', async () => {
    expect(
      await createTokens().tokens.verify(
        'au1',
        await createForgedToken({ key: Buffer.from(newSecret(), 'base64url') }),
      ),
    ).toBeNull();
  });

  test('of another issuer', async () => {
    expect(
      await createTokens().tokens.verify('au1', await createForgedToken({ issuer: 'https://other.example' })),
    ).toBeNull();
  });

  test('for another audience', async () => {
    expect(
      await createTokens().tokens.verify('au1', await createForgedToken({ audience: 'https://other.example' })),
    ).toBeNull();
  });

  test('without one of its claims', async () => {
    const allClaims = {
      ...claims,
      iss: BASE_URL,
      aud: BASE_URL,
      jti: 'jti',
      iat: OAUTH_START / 1000,
      exp: OAUTH_START / 1000 + 3600,
    };
    for (const omitted of Object.keys(allClaims)) {
      const { [omitted as 'sub']: _, ...rest } = allClaims;
      const token = await new SignJWT(rest).setProtectedHeader({ alg: 'HS256', kid }).sign(keyBytes);
      expect(await createTokens().tokens.verify('au1', token), omitted).toBeNull();
    }
  });

  test('in any other encoding than the signed one', async () => {
    const { tokens } = createTokens();
    const token = await createForgedToken();
    for (const [name, spelling] of Object.entries(toNonCanonicalTokens(token))) {
      expect(await tokens.verify('au1', spelling), name).toBeNull();
    }
    expect(await tokens.verify('au1', token)).toMatchObject(claims);
  });

  test('with a changed payload or signature, and for text that is not a token', async () => {
    const { tokens } = createTokens();
    const token = await createForgedToken();
    const [header, , signature] = token.split('.');
    const payload = base64url({ ...decodeJwt(token), scope: 'write:photos' });
    expect(await tokens.verify('au1', `${header}.${payload}.${signature}`)).toBeNull();
    for (const garbage of ['', '.', '..', 'garbage', 'a.b.c', `${token}.`, `${token}a`]) {
      expect(await tokens.verify('au1', garbage), garbage).toBeNull();
    }
  });
});
