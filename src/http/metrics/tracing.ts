import {
  type Context,
  defaultTextMapGetter,
  defaultTextMapSetter,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { TracingSettings } from '../../config.ts';
import { type SpanAttributes, setTracing, type TraceContext, type Tracing } from '../../shared/tracing.ts';
import { VERSION } from '../../shared/version.ts';
import { toLoggedPath } from './logged-path.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Span of the request, with its context; null where requests are not traced. */
    trace: { span: Span; context: Context } | null;
  }
}

/* Loaded only with OTEL_EXPORTER_OTLP_ENDPOINT: the packages take time to load, and memory. */

const SERVICE = 'builder-integration-api';

/** Records spans, and sends them to an OTLP receiver as JSON over HTTP. */
class OpenTelemetryTracing implements Tracing {
  readonly #contexts = new AsyncLocalStorageContextManager().enable();
  readonly #propagator = new W3CTraceContextPropagator();
  readonly #provider: TracerProvider;
  readonly #tracer;

  constructor({ endpoint, sampledRatio }: TracingSettings) {
    const sampler = new TraceIdRatioBasedSampler(sampledRatio);
    const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
    this.#provider = new TracerProvider({
      resource: defaultResource().merge(
        resourceFromAttributes({ 'service.name': SERVICE, 'service.version': VERSION }),
      ),
      // A caller must not decide that all of its requests are recorded.
      sampler: new ParentBasedSampler({ root: sampler, remoteParentSampled: sampler }),
      spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) })],
    });
    this.#tracer = this.#provider.getTracer(SERVICE, VERSION);
  }

  async run<T>(
    name: string,
    attributes: SpanAttributes,
    work: () => Promise<T>,
    parents: readonly TraceContext[] = [],
  ): Promise<T> {
    const [parent = this.current(), ...others] = parents as Context[];
    const links = others.flatMap((other) => trace.getSpanContext(other) ?? []).map((context) => ({ context }));
    const kind = name.startsWith('operation') ? SpanKind.INTERNAL : SpanKind.CLIENT;
    const span = this.#tracer.startSpan(name, { kind, attributes, links }, parent as Context);
    try {
      return await this.#contexts.with(trace.setSpan(parent as Context, span), work);
    } catch (error) {
      span.recordException(toSafeException(error));
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  }

  current(): TraceContext {
    return this.#contexts.active();
  }

  headers(): Record<string, string> {
    const carrier: Record<string, string> = {};
    this.#propagator.inject(this.#contexts.active(), carrier, defaultTextMapSetter);
    return carrier;
  }

  /** Starts the span of a request, which continues the trace of its `traceparent` header. */
  startRequest({ method, headers }: FastifyRequest): { span: Span; context: Context } {
    const parent = this.#propagator.extract(ROOT_CONTEXT, headers, defaultTextMapGetter);
    const span = this.#tracer.startSpan(method, { kind: SpanKind.SERVER }, parent);
    return { span, context: trace.setSpan(parent, span) };
  }

  enter(context: Context, work: () => void): void {
    this.#contexts.with(context, work);
  }

  /** Sends what was recorded. What no receiver takes is lost, which is no reason for the service to end with an error. */
  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => undefined);
  }
}

/** The message of a database error may contain values of a record, so only its class and code are recorded. */
function toSafeException(error: unknown) {
  const { name, code } = error as Error & { code?: string };
  return { name: name || 'Error', message: code ?? '' };
}

/** Adds hooks that record a span for each request, and the trace id to its log lines. Call it before other hooks are added. */
export function installTracing(app: FastifyInstance, settings: TracingSettings): void {
  const tracing = new OpenTelemetryTracing(settings);
  setTracing(tracing);
  app.decorateRequest('trace', null);
  app.addHook('onRequest', (request, _reply, done) => {
    const started = tracing.startRequest(request);
    request.trace = started;
    request.log = request.log.child({ traceId: started.span.spanContext().traceId });
    tracing.enter(started.context, done);
  });
  // The body arrives in events of the socket, which are outside of the request's context.
  app.addHook('preValidation', (request, _reply, done) => tracing.enter(request.trace!.context, done));
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const span = request.trace?.span;
    if (!span) return done();
    const { method, routeOptions, context, id } = request;
    const route = routeOptions.url;
    span.updateName(route === undefined ? method : `${method} ${route}`);
    span.setAttributes({
      'http.request.method': method,
      'http.route': route,
      'http.response.status_code': statusCode,
      'url.path': toLoggedPath(request.url),
      'builder_api.request_id': id,
      'builder_api.operation': context?.operation.name ?? undefined,
      'builder_api.integrator_id': context?.caller.integratorId ?? undefined,
      'builder_api.region': context?.region,
    });
    if (statusCode >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end();
    done();
  });
  app.addHook('onClose', async () => {
    setTracing(null);
    await tracing.close();
  });
}
