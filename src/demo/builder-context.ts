import type { EntityClass } from '@mikro-orm/postgresql';
import { Project } from '../../entities/project.entity.ts';
import type { IdKind } from '../../schema/ids.ts';
import { getTimeZone } from '../../schema/time-zone.ts';
import type { RegionId } from '../shared/regions.ts';
import { FOUNDED, findIntegratorId, generateBuilder } from './accounts.ts';
import { DAY, iso, LocalCalendar, MINUTE } from './local-calendar.ts';
import { Random } from './random.ts';
import { Rows } from './rows.ts';
import { FIRST_NAMES, LAST_NAMES, LOCALES } from './words.ts';

/** Days of history before the instant of loading. */
export const HISTORY_DAYS = 600;

/** When a record was made and last changed. */
interface Dates {
  createdAt: string;
  updatedAt: string;
}

/** The rows of one builder, and what their generators share. Days count from the day of loading, and are negative before it. */
export class BuilderContext {
  readonly rows = new Rows();
  readonly random: Random;
  readonly calendar: LocalCalendar;
  readonly locale: (typeof LOCALES)[RegionId];
  readonly builder: ReturnType<typeof generateBuilder>;
  /** The integrator that syncs records; null without one. */
  readonly integratorId: string | null;

  /** @param now instant of loading, in milliseconds: nothing but plans is later */
  constructor(
    region: RegionId,
    index: number,
    readonly now: number,
  ) {
    this.builder = generateBuilder(region, index);
    this.integratorId = findIntegratorId(region, index);
    this.locale = LOCALES[region];
    this.random = new Random(region, index, 'records');
    this.calendar = new LocalCalendar(now, getTimeZone(this.builder, region));
  }

  /** Adds a record of the builder. */
  add<T extends { id: string }>(entity: EntityClass<T>, kind: IdKind, values: Partial<T & Dates>): T {
    const id = this.random.id(kind, values.createdAt ?? FOUNDED);
    return this.rows.add(entity, { id, builderId: this.builder.id, ...values } as Partial<T>);
  }

  /** Adds a record of one of the builder's companies. */
  addOf<T extends { id: string }>(
    { id: subcontractorId, createdAt }: { id: string } & Dates,
    entity: EntityClass<T>,
    kind: IdKind,
    values: Partial<T>,
  ): T {
    return this.add(entity, kind, { subcontractorId, ...this.pickDates(createdAt), ...values } as Partial<T & Dates>);
  }

  /** Returns the projects that have begun, at the instant if there is one. */
  listStartedProjects(at?: string): Project[] {
    const projects = this.rows.of(Project).filter(({ status }) => status !== 'UPCOMING');
    return at === undefined ? projects : projects.filter(({ createdAt }) => createdAt < at);
  }

  get runningProjects(): Project[] {
    return this.rows.of(Project).filter(({ status }) => status === 'IN_PROGRESS');
  }

  /** Returns the instant so many days before the data is loaded. */
  ago = (days: number): string => iso(this.now - days * DAY);

  /** Picks a time in working hours of a day. */
  pickTime(day: number): string {
    return iso(this.calendar.instantOf(day, this.random.between(7 * 60, 16 * 60)));
  }

  /** Picks an instant within so many days after another, and before the data is loaded. */
  pickLater(instant: string, days: number): string {
    const from = Date.parse(instant);
    return iso(this.random.between(from, Math.max(from, Math.min(from + days * DAY, this.now - MINUTE))));
  }

  /** Picks when a record was made, within so many days after an instant, and when it last changed: often later. */
  pickDates(after: string, days = HISTORY_DAYS): Dates {
    const createdAt = this.pickLater(after, days);
    return { createdAt, updatedAt: this.random.chance(0.6) ? createdAt : this.pickLater(createdAt, 60) };
  }

  pickName = () => `${this.random.pick(FIRST_NAMES)} ${this.random.pick(LAST_NAMES)}`;

  pickPhone = () => this.locale.phone.replaceAll('#', () => this.random.digits(1));
}
