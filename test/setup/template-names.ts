import type { RegionId } from '../../src/shared/regions.ts';

/** Database with empty tables. */
export const EMPTY_TEMPLATE = 'template_empty';
/** Databases with the accounts of the demo and the rows of `test/setup/company`. */
export const REGION_TEMPLATES: Record<RegionId, string> = { au1: 'template_au1', us1: 'template_us1' };

/** Key from which the credentials of the templates' accounts are derived. */
export const DEMO_KEY = 'key-of-the-credentials-of-the-tests';
