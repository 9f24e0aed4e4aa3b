import type { RegionId } from '../shared/regions.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';
import { LOCALES, type Locale } from './words/places.ts';

/** What the parts of one builder's demo data share. */
export interface Scene {
  rows: Rows;
  region: RegionId;
  locale: Locale;
  builderId: string;
  /** Domain of the builder's e-mail addresses. */
  domain: string;
  /** Midnight of the day from which the expiry of insurances counts. */
  asOf: number;
  /** The stream of one subject. */
  random(subject: string): Random;
}

const FOUNDED = '2024-06-01T00:00:00.000Z';

/** The region's builder at that place, from 0. */
export function builderOf(region: RegionId, place: number) {
  const { builders } = LOCALES[region];
  const generation = Math.floor(place / builders.length);
  const name = builders[place % builders.length]! + (generation > 0 ? ` ${generation + 1}` : '');
  const slug = name.toLowerCase().replaceAll(' ', '-');
  const createdAt = new Date(Date.parse(FOUNDED) + place * 60_000).toISOString();
  return {
    id: new Random(region, place, 'builder').id('builder', createdAt),
    createdAt,
    updatedAt: createdAt,
    name,
    logoUrl: null,
    domain: `${slug}.example`,
  };
}

export function newScene(region: RegionId, place: number, asOf: number): Scene {
  const { id, domain } = builderOf(region, place);
  return {
    rows: new Rows(),
    region,
    locale: LOCALES[region],
    builderId: id,
    domain,
    asOf,
    random: (subject) => new Random(region, place, subject),
  };
}
