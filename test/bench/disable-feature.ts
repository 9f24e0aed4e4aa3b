/**
 * Module that is preloaded into a service to measure the cost of a feature: disables the feature that `DISABLE_FEATURE` names, without
 * changes of the build.
 */
import { pino, symbols } from 'pino';
import promClient from 'prom-client';
import { DurationCounts } from '../../src/shared/duration-counts.ts';
import { DurationHistogram } from '../../src/shared/duration-histogram.ts';

const noop = () => undefined;

const REMOVALS: Record<string, () => void> = {
  metrics: () => {
    Object.assign(DurationCounts.prototype, { add: noop, measure: (_label: string, work: () => unknown) => work() });
    Object.assign(DurationHistogram.prototype, { add: noop });
    Object.assign(promClient, { collectDefaultMetrics: noop });
  },
  'log-fields': () => {
    let prototype = pino({ level: 'silent' }) as object;
    while (!Object.hasOwn(prototype, symbols.asJsonSym)) prototype = Object.getPrototypeOf(prototype);
    const methods = prototype as Record<symbol, (line: object, ...rest: unknown[]) => string>;
    const asJson = methods[symbols.asJsonSym]!;
    methods[symbols.asJsonSym] = function (line, ...rest) {
      // pino omits undefined fields.
      if (rest[0] === 'request') {
        Object.assign(line, { route: undefined, operation: undefined, cost: undefined, integratorId: undefined });
      }
      return asJson.call(this, line, ...rest);
    };
  },
};

REMOVALS[process.env.DISABLE_FEATURE ?? '']?.();
