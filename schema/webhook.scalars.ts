import { declareEnum, type Value } from './enums.ts';
import { idPattern } from './ids.ts';
import { fail, STANDARDS, scalar } from './scalar.ts';
import { createIdScalar, createPatternScalar } from './scalars.ts';
import { hasLength, isCleanText, UNCLEAN } from './text.ts';

export const WebhookEndpointId = createIdScalar('webhookEndpoint', 'WebhookEndpointId', 'a webhook endpoint');
export const WebhookDeliveryId = createIdScalar(
  'webhookDelivery',
  'WebhookDeliveryId',
  'a delivery to a webhook endpoint',
);

export const WebhookEndpointStatus = declareEnum(
  'WebhookEndpointStatus',
  'Whether events are delivered to an endpoint. `PAUSED` keeps its position in the event log; so does `DISABLED`, which the service sets after failures.',
  ['ACTIVE', 'PAUSED', 'DISABLED'],
);
export type WebhookEndpointStatus = Value<typeof WebhookEndpointStatus>;

export const WebhookEndpointSwitch = declareEnum(
  'WebhookEndpointSwitch',
  'Status that a client may give to an endpoint.',
  ['ACTIVE', 'PAUSED'],
);
export type WebhookEndpointSwitch = Value<typeof WebhookEndpointSwitch>;

export const WebhookDisabledReason = declareEnum(
  'WebhookDisabledReason',
  'Why the service delivers nothing: the receiver returned 410, no delivery succeeded for five days, or the client that created the endpoint is disabled.',
  ['GONE', 'NO_SUCCESS', 'CLIENT_DISABLED'],
);
export type WebhookDisabledReason = Value<typeof WebhookDisabledReason>;

export const WebhookDeliveryStatus = declareEnum(
  'WebhookDeliveryStatus',
  'State of a delivery. `PENDING` will be attempted again, `FAILED` was given up after three days, `DROPPED` is no longer visible to the endpoint.',
  ['PENDING', 'DELIVERED', 'FAILED', 'DROPPED'],
);
export type WebhookDeliveryStatus = Value<typeof WebhookDeliveryStatus>;

/** Maximum characters of an endpoint's URL. */
const MAX_URL = 2_000;

/** Whether `https:` is required and which addresses are public is checked where endpoints are written. */
export const WebhookUrl = scalar<string>({
  name: 'WebhookUrl',
  description: `Address that receives events, at most ${MAX_URL} characters: \`https:\`, on a public address, without credentials and fragment.`,
  jsonSchema: {
    type: 'string',
    format: 'uri',
    minLength: 1,
    maxLength: MAX_URL,
    examples: ['https://app.example.com/hooks/builders'],
  },
  specifiedBy: STANDARDS.uri,
  parse: (value) => {
    if (typeof value !== 'string') return fail('must be a string');
    if (!isCleanText(value)) return fail(UNCLEAN);
    if (!hasLength(value, 1, MAX_URL)) return fail(`must have 1 to ${MAX_URL} characters`);
    if (!/^[\x21-\x7e]+$/.test(value) || value.includes('\\') || !URL.canParse(value)) return fail('must be a URL');
    const { protocol, username, password } = new URL(value);
    if (!/^https?:\/\/[^/]/i.test(value) || !/^https?:$/.test(protocol)) return fail('must be an https: URL');
    if (username || password) return fail('must not contain credentials');
    return value.includes('#') ? fail('must not have a fragment') : value;
  },
});

/** Position in the list of an endpoint's deliveries: the id of the last delivery of a page. */
export const DeliveryCursor = createPatternScalar(
  'DeliveryCursor',
  '`meta.nextCursor` of the page before.',
  idPattern('webhookDelivery'),
  'whd_a0mkq3v8t2n4c7x1p9r5w6yzb',
  'must be the nextCursor of a page of deliveries',
);
