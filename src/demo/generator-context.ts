import { DEFAULT_TIME_ZONES } from '../../schema/time-zone.ts';
import type { RegionId } from '../shared/regions.ts';
import { LocalCalendar } from './local-calendar.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';
import { LOCALES, type Locale } from './words.ts';

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
  /** The instant of loading, in milliseconds: nothing but plans is later. */
  now: number;
  /** Days and times of the builder, counted from today. */
  calendar: LocalCalendar;
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

/** Returns the storage key of a builder's logo. */
export const toLogoKey = (builderId: string) => `logos/${builderId}/demo.png`;

/** Every fourth builder has no logo. */
export const hasLogo = (index: number) => index % 4 !== 3;

export function createGeneratorContext(
  region: RegionId,
  index: number,
  { asOf, now }: { asOf: number; now: number },
): GeneratorContext {
  const { id, domain } = generateBuilder(region, index);
  const { timeZone } = LOCALES[region];
  return {
    rows: new Rows(),
    region,
    locale: LOCALES[region],
    builderId: id,
    domain,
    asOf,
    now,
    calendar: new LocalCalendar(now, timeZone ?? DEFAULT_TIME_ZONES[region]),
    random: (subject) => new Random(region, index, subject),
  };
}
