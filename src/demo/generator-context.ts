import type { RegionId } from '../shared/regions.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';
import { LOCALES, type Locale } from './texts/locales.ts';

/** Shared input and output of the generators of one builder's data. */
export interface GeneratorContext {
  rows: Rows;
  region: RegionId;
  locale: Locale;
  builderId: string;
  /** Domain of the builder's e-mail addresses. */
  domain: string;
  /** Midnight of the day that the expiry of insurances is relative to. */
  asOf: number;
  /** Creates the random stream of one subject. */
  random(subject: string): Random;
}

const FOUNDED = '2024-06-01T00:00:00.000Z';

/** Generates the builder with this index in the region. */
export function generateBuilder(region: RegionId, index: number) {
  const { builders, timeZone } = LOCALES[region];
  const generation = Math.floor(index / builders.length);
  const name = builders[index % builders.length]! + (generation > 0 ? ` ${generation + 1}` : '');
  const slug = name.toLowerCase().replaceAll(' ', '-');
  const createdAt = new Date(Date.parse(FOUNDED) + index * 60_000).toISOString();
  return {
    id: new Random(region, index, 'builder').id('builder', createdAt),
    createdAt,
    updatedAt: createdAt,
    name,
    logoUrl: null,
    timeZone,
    domain: `${slug}.example`,
  };
}

export function createGeneratorContext(region: RegionId, index: number, asOf: number): GeneratorContext {
  const { id, domain } = generateBuilder(region, index);
  return {
    rows: new Rows(),
    region,
    locale: LOCALES[region],
    builderId: id,
    domain,
    asOf,
    random: (subject) => new Random(region, index, subject),
  };
}
