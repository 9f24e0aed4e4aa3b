import { createHmac, randomBytes } from 'node:crypto';

/** Bytes of a secret; Standard Webhooks allows 24 to 64. */
const SECRET_BYTES = 32;

const PREFIX = 'whsec_';

/** Returns a new signing secret: `whsec_` and 256 random bits in base64. */
export const newWebhookSecret = () => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/**
 * Returns the headers of Standard Webhooks 1.0.0 for a body, signed with HMAC-SHA256 by each secret (WHK-9).
 *
 * @param message `timestamp` is in seconds since the Unix epoch.
 */
export function signWebhook(secrets: readonly string[], message: { id: string; timestamp: number; body: string }) {
  const { id, timestamp, body } = message;
  const sign = (secret: string) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': secrets.map(sign).join(' ') };
}
