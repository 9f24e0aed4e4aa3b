import { join } from 'node:path';
import type { RegionId } from '../../src/shared/regions.ts';

/** Database with empty tables. */
export const EMPTY_TEMPLATE = 'template_empty';
/** Sample data of two builders, in every file of the format. */
export const SAMPLES = join(import.meta.dirname, '../samples/company');
/** Database with the sample data, and one of each entity that has none there. */
export const SAMPLE_TEMPLATE = 'template_sample';
/** Databases with the accounts of the demo and the rows of `test/setup/company`. */
export const REGION_TEMPLATES: Record<RegionId, string> = { au1: 'template_au1', us1: 'template_us1' };

/** Key from which the credentials of the templates' accounts are derived. */
export const DEMO_KEY = 'key-of-the-credentials-of-the-tests';
