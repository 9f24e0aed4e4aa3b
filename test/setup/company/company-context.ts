import type { Project } from '../../../entities/project.entity.ts';
import type { User } from '../../../entities/user.entity.ts';
import { ID_PREFIXES, type IdKind } from '../../../schema/ids.ts';
import { Rows } from '../../../src/demo/rows.ts';
import type { RegionId } from '../../../src/shared/regions.ts';

/** The first instant of the fake clock of tests; all rows are created before. */
const BASE = Date.parse('2026-06-01T00:00:00.000Z');
const HOUR = 3_600_000;

/** Returns an instant by its day relative to the base, and the hours and minutes of that day. */
export const instant = (day: number, hours = 0, minutes = 0) =>
  new Date(BASE + (day * 24 + hours) * HOUR + minutes * 60_000).toISOString();

/** Creation and last change of a row. */
export const created = (day: number, updatedDay = day) => ({
  createdAt: instant(day, 7),
  updatedAt: instant(updatedDay, 7),
});

/** Returns the value of an index, which starts again after the last. */
export const cycle = <T>(values: readonly T[], index: number): T => values[index % values.length]!;

/** Rows of one builder, and what the rows of other tables refer to. */
export class CompanyContext {
  readonly rows = new Rows();
  readonly projects: Project[] = [];
  readonly users: User[] = [];
  readonly #counts = new Map<IdKind, number>();

  constructor(
    readonly region: RegionId,
    readonly index: number,
    readonly builderId: string,
    /** Integrator of synced records; null for a builder that has none. */
    readonly integratorId: string | null,
  ) {}

  /** Returns the next identifier of the kind: `proj_aau10x1`, `proj_aau10x2` and so on. */
  id(kind: IdKind): string {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return this.idAt(kind, count);
  }

  /** Returns the identifier of the n-th row of the kind, from 1. */
  idAt(kind: IdKind, count: number): string {
    return `${ID_PREFIXES[kind]}_a${this.region}${this.index}x${String(count).padStart(4, '0')}`;
  }
}
