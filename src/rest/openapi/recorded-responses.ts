import recordings from './recorded-responses.json' with { type: 'json' };

/** Placeholder for the base URL of the service in recorded responses. */
export const BASE_URL_PLACEHOLDER = '{baseUrl}';

interface MediaType {
  examples?: Record<string, object>;
}

/**
 * Response bodies of the service by the name of their example: `getBuilder 200`, `syncPhotoReport 409 STALE_REVISION`, `InvalidInput
 * parameter`. `npm run examples` writes them; a test fails when they differ from what the service responds.
 */
const RECORDINGS = recordings as Record<string, unknown>;

/** Returns the response, or the request that a webhook receives, with recorded bodies as the examples of its JSON content. */
export function withRecordedResponses<T extends object>(response: T, name: string, baseUrl: string): T {
  const { content } = response as { content?: Record<string, MediaType> };
  const media = content?.['application/json'];
  if (!media) return response;
  return {
    ...response,
    content: { ...content, 'application/json': { ...media, ...recordedExamples(media, name, baseUrl) } },
  };
}

function recordedExamples({ examples }: MediaType, name: string, baseUrl: string): object {
  if (!examples) return name in RECORDINGS ? { example: recordedBody(name, baseUrl) } : {};
  const names = Object.keys(examples).filter((example) => `${name} ${example}` in RECORDINGS);
  const values = names.map((example) => [example, { value: recordedBody(`${name} ${example}`, baseUrl) }]);
  return { examples: { ...examples, ...Object.fromEntries(values) } };
}

/** Returns the body of a recording without placeholders. */
const recordedBody = (name: string, baseUrl: string): unknown =>
  JSON.parse(JSON.stringify(RECORDINGS[name]).replaceAll(BASE_URL_PLACEHOLDER, baseUrl));
