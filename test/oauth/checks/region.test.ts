import { expect, test } from 'vitest';
import { parseRegionHeader } from '../../../src/oauth/authenticate-client.ts';
import { errorOf } from './check-fixtures.ts';

test('returns the region that the header names, and all regions without the header (HDR-10)', () => {
  expect(parseRegionHeader({})).toEqual(['au1', 'us1']);
  expect(parseRegionHeader({ 'x-service-region-id': 'us1' })).toEqual(['us1']);
  expect(errorOf(() => parseRegionHeader({ 'x-service-region-id': 'eu1' }))).toBe('invalid_request');
});
