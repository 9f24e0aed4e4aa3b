import type { JsonSchema } from '../../../schema/scalar.ts';
import answers from './recorded-answers.json' with { type: 'json' };

/** Stands for the address of the service in the recorded answers. */
export const BASE_URL_MARK = '{baseUrl}';

interface MediaType {
  schema?: JsonSchema;
  example?: unknown;
  examples?: Record<string, { value: unknown }>;
}

interface Response {
  content?: Record<string, MediaType>;
}

/**
 * Bodies that the service has answered with, by the name of their example: `getBuilder 200`, `syncPhotoReport 409
 * STALE_REVISION`, `InvalidInput parameter`. A test records them again and fails when they differ; `npm run examples` writes them.
 */
const RECORDED = answers as Record<string, unknown>;

/** The response with the recorded answers as the examples of its JSON, where there are any. */
export function withRecordedAnswers<T extends object>(response: T, name: string, baseUrl: string): T {
  const { content } = response as Response;
  const media = content?.['application/json'];
  if (!media) return response;
  return { ...response, content: { ...content, 'application/json': recordedMedia(media, name, baseUrl) } };
}

function recordedMedia(media: MediaType, name: string, baseUrl: string): MediaType {
  if (!media.examples) return name in RECORDED ? { ...media, example: recordedAs(name, baseUrl) } : media;
  const examples = Object.entries(media.examples).map(([own, example]) => {
    const recorded = `${name} ${own}`;
    return [own, recorded in RECORDED ? { ...example, value: recordedAs(recorded, baseUrl) } : example];
  });
  return { ...media, examples: Object.fromEntries(examples) };
}

const recordedAs = (name: string, baseUrl: string): unknown =>
  JSON.parse(JSON.stringify(RECORDED[name]).replaceAll(BASE_URL_MARK, baseUrl));
