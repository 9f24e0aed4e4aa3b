import type { EntityClass } from '@mikro-orm/postgresql';
import type { Project } from '../../entities/project.entity.ts';
import type { Subcontractor } from '../../entities/subcontractor.entity.ts';
import type { IdKind } from '../../schema/ids.ts';
import { getTimeZone } from '../../schema/time-zone.ts';
import type { RegionId } from '../shared/regions.ts';
import { FOUNDED, findIntegratorId, generateBuilder } from './accounts.ts';
import { DAY, iso, LocalCalendar, MINUTE } from './local-calendar.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';
import { FIRST_NAMES, LAST_NAMES, LOCALES, type Locale } from './words.ts';

/** Days of history before the instant of loading. */
export const HISTORY_DAYS = 730;

/** When a record was made and last changed. */
export interface Dates {
  createdAt: string;
  updatedAt: string;
}

/** A company of a builder, with the values that other generators use. */
export interface Company {
  row: Subcontractor;
  projects: Project[];
  /** Names of safe work method statements that it may submit. */
  swms: string[];
  /** Days until the end of its public liability insurance; negative when it has expired. */
  coverDays: number;
}

/** The rows of one builder, and what their generators share. Days count from the day of loading, and are negative before it. */
export class BuilderContext {
  readonly rows = new Rows();
  readonly random: Random;
  readonly calendar: LocalCalendar;
  readonly locale: Locale;
  readonly builder: ReturnType<typeof generateBuilder>;
  /** The integrator that syncs records; null without one. */
  readonly integratorId: string | null;
  readonly projects: Project[] = [];
  readonly companies: Company[] = [];

  /** @param now instant of loading, in milliseconds: nothing but plans is later */
  constructor(
    region: RegionId,
    index: number,
    readonly now: number,
    stream = 'records',
  ) {
    this.builder = generateBuilder(region, index);
    this.integratorId = findIntegratorId(region, index);
    this.locale = LOCALES[region];
    this.random = new Random(region, index, stream);
    this.calendar = new LocalCalendar(now, getTimeZone(this.builder, region));
  }

  /** Adds a record of the builder. */
  add<T extends { id: string }>(entity: EntityClass<T>, kind: IdKind, values: Partial<T & Dates>): T {
    const id = this.random.id(kind, values.createdAt ?? FOUNDED);
    return this.rows.add(entity, { id, builderId: this.builder.id, ...values } as Partial<T>);
  }

  get startedProjects(): Project[] {
    return this.projects.filter(({ status }) => status !== 'UPCOMING');
  }

  get runningProjects(): Project[] {
    return this.projects.filter(({ status }) => status === 'IN_PROGRESS');
  }

  /** Returns the day after the one on which the last of the records was made. */
  dayAfter(...records: { createdAt: string }[]): number {
    const last = Math.max(...records.map(({ createdAt }) => Date.parse(createdAt)));
    return Math.ceil((last - this.calendar.instantOf(0, 0)) / DAY);
  }

  /** Picks a time in working hours between two days, inclusive. */
  pickTime(first: number, last = first): string {
    const minutes = this.random.between(7 * 60, 16 * 60);
    return iso(this.calendar.instantOf(this.random.between(first, last), minutes) + this.random.between(0, MINUTE - 1));
  }

  /** Picks when a record was made, between two days in the past, and when it last changed: often later. */
  pickDates(first: number, last = -1): Dates {
    const latest = Math.min(last, -1);
    const createdAt = this.pickTime(Math.min(first, latest), latest);
    return { createdAt, updatedAt: this.random.chance(0.6) ? createdAt : this.pickLater(createdAt, 60) };
  }

  /** Picks an instant within so many days after another, and before the data is loaded. */
  pickLater(instant: string, days: number): string {
    const from = Date.parse(instant);
    return iso(this.random.between(from, Math.max(from, Math.min(from + days * DAY, this.now - MINUTE))));
  }

  pickName = () => `${this.random.pick(FIRST_NAMES)} ${this.random.pick(LAST_NAMES)}`;

  pickPhone = () => this.locale.phone.replaceAll('#', () => this.random.digits(1));
}
