import type { GeneratorContext } from '../generator-context.ts';
import type { LocalCalendar } from './local-calendar.ts';

/** Shared input of the generators of recent records. */
export interface Scenario {
  context: GeneratorContext;
  /** The instant of loading, in milliseconds: nothing is later. */
  now: number;
  /** Days and times of the builder, counted from today. */
  calendar: LocalCalendar;
}
