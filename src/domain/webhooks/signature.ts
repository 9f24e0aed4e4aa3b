import { createHmac, randomBytes } from 'node:crypto';

/** Bytes of a secret; Standard Webhooks allows 24 to 64. */
const SECRET_BYTES = 32;

const PREFIX = 'whsec_';

/** Returns a new signing secret: `whsec_` and 256 random bits in base64. */
export const newWebhookSecret = () => `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;

/** Headers that Standard Webhooks requires of a delivery. */
interface SignatureHeaders {
  'webhook-id': string;
  /** Seconds since the Unix epoch. */
  'webhook-timestamp': string;
  /** A signature for each secret, separated by spaces. */
  'webhook-signature': string;
}

/** Returns the headers of Standard Webhooks 1.0.0 for a body, signed with HMAC-SHA256 by each secret (WHK-9). */
export function signWebhook(
  secrets: readonly string[],
  message: { id: string; timestamp: number; body: string },
): SignatureHeaders {
  const { id, timestamp, body } = message;
  const sign = (secret: string) => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  };
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': secrets.map(sign).join(' ') };
}
