import { diag, DiagLogLevel, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, TraceFlags } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  type IdGenerator,
} from '@opentelemetry/sdk-trace-base';
import { INSTALLATION } from '../config/installation';
import type { Log } from './log';
import { describeProcess } from '../process';
import { within } from '../timers';
import { traceIdsOf, type EndedSpan, type Tracing, type TraceSubject } from './tracing';

/**
 * Sends ended spans to a collector by OTLP over HTTP, in batches. Headers, time limit, compression and certificates of
 * the exporter are its own variables, `OTEL_EXPORTER_OTLP_…`.
 */

const STOP_WITHIN_MS = 2000;
const KINDS = { received: SpanKind.SERVER, queued: SpanKind.CONSUMER, called: SpanKind.CLIENT } as const;

export interface OpenTelemetryOptions {
  /** The base address of the collector. */
  readonly endpoint: string;
  /** The share of the tows and violations that are traced, from 0 to 1. All processes choose the same ones. */
  readonly ratio: number;
  /** The name under which the traces are kept. */
  readonly serviceName: string;
  /** Throttled: a collector may be away for long. */
  readonly log: Log;
}

export function openTelemetry({ endpoint, ratio, serviceName, log }: OpenTelemetryOptions): Tracing {
  const { version, hostName, processId } = describeProcess();
  const quiet = () => {};
  const error = (problem: string) => log.warn('tracing.failed', { problem: problem.slice(0, 200) });
  diag.setLogger({ error, warn: quiet, info: quiet, debug: quiet, verbose: quiet }, DiagLogLevel.ERROR);
  const ids = new SpanIds();
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({
      'service.name': serviceName,
      'service.namespace': INSTALLATION,
      'service.version': version,
      'service.instance.id': `${hostName}:${processId}`,
    }),
    sampler: new TraceIdRatioBasedSampler(ratio),
    idGenerator: ids,
    spanProcessors: [
      new BatchSpanProcessor(new OTLPTraceExporter({ url: `${endpoint.replace(/\/$/, '')}/v1/traces` })),
    ],
  });
  const tracer = provider.getTracer('towhook', version);
  return {
    ended(span) {
      const { subject, name, place, kind, endedAtMs, durationMs, isFailed } = span;
      const options = {
        kind: KINDS[kind],
        startTime: endedAtMs - durationMs,
        attributes: attributesOf(span),
        links: linksOf(span),
      };
      const started =
        place === 'first'
          ? ids.asFirst(subject, () => tracer.startSpan(name, { ...options, root: true }, ROOT_CONTEXT))
          : tracer.startSpan(name, options, belowFirst(subject));
      if (isFailed) started.setStatus({ code: SpanStatusCode.ERROR });
      started.end(endedAtMs);
    },
    async stop() {
      await within(STOP_WITHIN_MS, provider.shutdown());
    },
  };
}

/** The context of a span below the first one of its trace, which another process may have sent. */
function belowFirst(subject: TraceSubject) {
  const { traceId, firstSpanId: spanId } = traceIdsOf(subject);
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

/** Random ids, except for the first span of a trace. */
class SpanIds implements IdGenerator {
  #first: TraceSubject | null = null;
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.#first ? traceIdsOf(this.#first).traceId : this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.#first ? traceIdsOf(this.#first).firstSpanId : this.#random.generateSpanId();
  }

  /** Starts the first span of the subject's trace. */
  asFirst<T>(subject: TraceSubject, start: () => T): T {
    this.#first = subject;
    try {
      return start();
    } finally {
      this.#first = null;
    }
  }
}

function attributesOf({ subject, attributes }: EndedSpan) {
  const named = subject.kind === 'tow' ? { towing_reference_id: subject.id } : { violation_id: subject.id };
  const known = Object.entries({ ...named, ...attributes }).flatMap(([name, value]) =>
    value === null ? [] : [[`towhook.${name}`, value] as const],
  );
  return Object.fromEntries(known);
}

const TRACEPARENT = /^[0-9a-f]{2}-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-[0-9a-f]{2}$/;

function linksOf({ traceparent }: EndedSpan) {
  const { traceId, spanId } = TRACEPARENT.exec(traceparent ?? '')?.groups ?? {};
  if (traceId === undefined || spanId === undefined) return [];
  return [{ context: { traceId, spanId, traceFlags: TraceFlags.NONE, isRemote: true } }];
}
