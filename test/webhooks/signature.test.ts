import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { SecretBox, UnknownKeyError } from '../../src/domain/webhooks/secret-box.ts';
import { newWebhookSecret, signWebhook } from '../../src/domain/webhooks/signature.ts';

/** The values of the test vectors of Standard Webhooks (libraries/javascript/src/webhook.test.ts). */
const SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const ID = 'msg_p5jXN8AQM9LWM0D4loKWxJek';
const PAYLOAD = '{"test": 2432232314}';
const TOLERANCE_SECONDS = 5 * 60;

const now = () => Math.floor(Date.now() / 1000);
const sign = (timestamp = now(), secrets = [SECRET]) =>
  ({ ...signWebhook(secrets, { id: ID, timestamp, body: PAYLOAD }) }) as Record<string, string>;
const verify = (headers: Record<string, string>, secret = SECRET, payload = PAYLOAD) =>
  new Webhook(secret).verify(payload, headers);

describe('the signature of a delivery', () => {
  it('is that of the reference vector (WHK-9)', () => {
    const headers = signWebhook([SECRET], { id: ID, timestamp: 1614265330, body: PAYLOAD });
    expect(headers).toEqual({
      'webhook-id': ID,
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    });
  });

  it('equals the signature of the reference library', () => {
    const signature = new Webhook(SECRET).sign(ID, new Date(1614265330_000), PAYLOAD);
    expect(sign(1614265330)['webhook-signature']).toBe(signature);
  });

  it('is verified with the secret, with and without its prefix', () => {
    expect(verify(sign())).toEqual({ test: 2432232314 });
    expect(verify(sign(), `whsec_${SECRET}`)).toEqual({ test: 2432232314 });
    expect(verify(sign(now(), [`whsec_${SECRET}`]))).toEqual({ test: 2432232314 });
  });

  it('is verified with each of two secrets (WHK-5)', () => {
    const [first, second] = [newWebhookSecret(), newWebhookSecret()];
    const headers = sign(now(), [second, first]);
    expect(headers['webhook-signature']).toMatch(/^v1,\S{44} v1,\S{44}$/);
    for (const secret of [first, second]) expect(verify(headers, secret)).toEqual({ test: 2432232314 });
    expect(() => verify(headers, newWebhookSecret())).toThrow('No matching signature found');
  });

  it('is verified among signatures of other versions and secrets', () => {
    const headers = sign();
    const signatures = [
      'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=',
      'v2,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=',
      headers['webhook-signature'],
      'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=',
    ];
    expect(verify({ ...headers, 'webhook-signature': signatures.join(' ') })).toEqual({ test: 2432232314 });
  });

  it.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('is rejected without %s', (name) => {
    const { [name]: _, ...headers } = sign();
    expect(() => verify(headers)).toThrow('Missing required headers');
  });

  it.each([
    ['an invalid timestamp', { 'webhook-timestamp': 'hello' }],
    ['another id', { 'webhook-id': 'msg_other' }],
    ['an invalid signature', { 'webhook-signature': 'v1,dawfeoifkpqwoekfpqoekf' }],
    ['a partial signature', { 'webhook-signature': sign()['webhook-signature']!.slice(0, 8) }],
    ['an empty signature', { 'webhook-signature': 'v1,' }],
  ])('is rejected with %s', (_case, changes) => {
    expect(() => verify({ ...sign(), ...changes })).toThrow();
  });

  it('is rejected with another body', () => {
    expect(() => verify(sign(), SECRET, '{"test":2432232314}')).toThrow('No matching signature found');
  });

  it('is rejected when it is too old or too new', () => {
    // The library reads the time again.
    expect(() => verify(sign(now() - TOLERANCE_SECONDS - 1))).toThrow('too old');
    expect(() => verify(sign(now() + TOLERANCE_SECONDS + 60))).toThrow('too new');
  });

  it.each(['', 'whsec_'])('has no empty secret: %j', (secret) => {
    expect(() => new Webhook(secret)).toThrow();
    expect(newWebhookSecret()).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  });
});

describe('a stored secret', () => {
  const [first, second] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64url')) as [string, string];

  it('is decrypted with every configured key, and encrypted with the first (WHK-4)', () => {
    const stored = new SecretBox([first]).encrypt('whsec_x', 'whe_1');
    const rotated = new SecretBox([second, first]);
    expect(rotated.decrypt(stored, 'whe_1')).toBe('whsec_x');
    expect(rotated.keyOf(stored)).toBe('OTHER');
    const anew = rotated.encrypt('whsec_x', 'whe_1');
    expect(rotated.keyOf(anew)).toBe('FIRST');
    expect(new SecretBox([second]).keyOf(stored)).toBe('UNKNOWN');
    expect(new SecretBox([second]).decrypt(anew, 'whe_1')).toBe('whsec_x');
    expect(() => new SecretBox([second]).decrypt(stored, 'whe_1')).toThrow(UnknownKeyError);
  });

  it('is not decrypted for another endpoint, or after a change', () => {
    const box = new SecretBox([first]);
    const stored = box.encrypt('whsec_x', 'whe_1');
    expect(() => box.decrypt(stored, 'whe_2')).toThrow();
    expect(() => box.decrypt(`${stored.slice(0, -2)}AA`, 'whe_1')).toThrow();
  });
});
