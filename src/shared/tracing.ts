/** Attributes of a span, with the names of OpenTelemetry's semantic conventions. */
export type SpanAttributes = Record<string, string | number | boolean | undefined>;

/** Position in a trace, to which later work can be attached. */
export type TraceContext = object;

/** What records the spans. Without OTEL_EXPORTER_OTLP_ENDPOINT there is none. */
export interface Tracing {
  /**
   * Runs the work in a span.
   *
   * @param parents The first is the span's parent, in place of the current one; the others are linked.
   */
  run<T>(
    name: string,
    attributes: SpanAttributes,
    work: () => Promise<T>,
    parents?: readonly TraceContext[],
  ): Promise<T>;
  current(): TraceContext;
  /** Returns the headers `traceparent` and `tracestate` of the current span. */
  headers(): Record<string, string>;
}

/** What records the spans of this process; null for nothing. */
export let tracing: Tracing | null = null;

export function setTracing(recorder: Tracing | null): void {
  tracing = recorder;
}

/** Runs the work in a span of the current trace; without tracing it runs the work alone. */
export const traced = <T>(
  name: string,
  attributes: SpanAttributes,
  work: () => Promise<T>,
  parents?: readonly TraceContext[],
): Promise<T> => (tracing ? tracing.run(name, attributes, work, parents) : work());

/** Returns the headers that continue the trace in another service; none without tracing. */
export const traceHeaders = (): Record<string, string> => tracing?.headers() ?? {};
