import { withRecordedResponses } from './recorded-responses.ts';
import { referToSchema } from './schemas.ts';

const createHeaderParameter = (name: string, description: string, example: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
  example,
});

/** Headers of Standard Webhooks (WHK-9). */
const HEADERS = [
  createHeaderParameter('webhook-id', 'Id of the event, the same on every attempt.', 'evt_a0mkq3v8t2n4c7x1p9r5w6yzb'),
  createHeaderParameter('webhook-timestamp', 'Time of the attempt, in seconds since the Unix epoch.', '1772436600'),
  createHeaderParameter(
    'webhook-signature',
    'HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` by each valid secret: `v1,` and base64, separated by spaces.',
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  ),
];

/** Returns the requests that the service sends to webhook endpoints. */
export const createWebhooks = (baseUrl: string) => ({
  event: {
    post: {
      operationId: 'receiveEvent',
      tags: ['Webhooks'],
      'x-extension': true,
      summary: 'Receive event',
      description:
        'Sent to each webhook endpoint that may see the event, at least once. Verify the signature, ignore ids that you have seen, and return 2xx within 15 seconds.',
      security: [],
      parameters: HEADERS,
      requestBody: withRecordedResponses(
        { required: true, content: { 'application/json': { schema: referToSchema('Event') } } },
        'receiveEvent',
        baseUrl,
      ),
      responses: {
        '2XX': { description: 'The event was received.' },
        410: { description: 'The receiver wants no more events: the service disables the endpoint.' },
        default: { description: 'The delivery is attempted again, for three days.' },
      },
    },
  },
});
