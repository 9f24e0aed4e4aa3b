import { expect, test } from 'vitest';
import { requireRegions } from '../../../src/oauth/checks/region.ts';
import { errorOf } from './fixtures.ts';

test('The header names the region, without it all are looked into (HDR-10)', () => {
  expect(requireRegions({})).toEqual(['au1', 'us1']);
  expect(requireRegions({ 'x-service-region-id': 'us1' })).toEqual(['us1']);
  expect(errorOf(() => requireRegions({ 'x-service-region-id': 'eu1' }))).toBe('invalid_request');
});
