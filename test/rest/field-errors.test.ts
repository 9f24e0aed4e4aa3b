import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasLength } from '../../schema/scalar.ts';
import { type Service, startService } from '../support/harness.ts';
import { type Client, clientOf } from '../support/uploads.ts';

let service: Service;
let client: Client;

beforeAll(async () => {
  service = await startService();
  client = await clientOf(service, 'A');
});

afterAll(() => service.stop());

describe('an input with many errors', () => {
  const errors = 100;

  it('is 400 with the first hundred, in REST (ERR-2, ERR-3)', async () => {
    const photos = Array(10_000).fill(5);
    const body = { externalSourceId: 'a', sourceApp: 'b', projectId: 'proj_a1', photos };
    const answer = await client.send('POST', '/photo-gallery/bulk-upsert', body);
    expect([answer.statusCode, answer.json().errors.length]).toEqual([400, errors]);
    expect(answer.json().errors[99].fieldName).toBe('photos[99]');
  });

  it('is 400 with the first hundred, in GraphQL (ERR-3)', async () => {
    const mutation = `mutation ($b: BuilderId!, $photos: [GalleryPhoto!]!) { bulkUpsertPhotos(builderId: $b,
      externalSourceId: "a", sourceApp: "b", projectId: "proj_a1", photos: $photos) { folderId } }`;
    const answer = await service.graphql(client.token, mutation, {
      b: client.builderId,
      photos: Array(10_000).fill(5),
    });
    expect(answer.errors![0]!.extensions.http.status).toBe(400);
    expect(answer.errors![0]!.extensions.errors).toHaveLength(errors);
  });
});

describe('a text that exceeds its maximum length', () => {
  it('is 400 with a message that does not repeat it (ERR-3)', async () => {
    const type = 'does not exist in '.repeat(50_000);
    const body = { sourceEventId: 'e1', workerId: 'wkr_a1', type, occurredAt: '2026-03-02T07:30:00Z' };
    const answer = await client.send('POST', '/projects/proj_a1/sign-on-events', body);
    expect(answer.json()).toEqual({ errors: [{ fieldName: 'type', message: 'must be one of SIGN_ON, SIGN_OFF' }] });
  });

  it('is measured in code points (IDN-10)', () => {
    const crane = '\u{1F3D7}';
    expect(hasLength(crane.repeat(5), 1, 5)).toBe(true);
    expect(hasLength(crane.repeat(6), 1, 5)).toBe(false);
    expect(hasLength(crane, 2, 5)).toBe(false);
    expect(hasLength('a'.repeat(11), 1, 5)).toBe(false);
    expect(hasLength('', 1, 5)).toBe(false);
  });
});
