import { createHash } from 'node:crypto';
import { INSTALLATION } from '../config/installation';

/**
 * Traces for people who look for where the time of a tow went. Off unless OTEL_EXPORTER_OTLP_ENDPOINT is set; the code
 * that sends them is loaded only then.
 *
 * A tow is one trace, from its tow request to its last report, over all processes and days. Nothing is stored for this:
 * the trace id and the id of its first span are hashes of the installation and the reference, so each process knows them. Spans are given when
 * they have ended.
 */

/** What a trace is about. A violation has a trace of its own. */
export interface TraceSubject {
  readonly kind: 'tow' | 'violation';
  /** The reference of a tow, the id of a violation. */
  readonly id: string;
}

export interface EndedSpan {
  readonly subject: TraceSubject;
  readonly name: string;
  /** `first` has no parent and is the parent of all others; a trace has one. */
  readonly place: 'first' | 'later';
  /** Whether a call was received, work was taken from a queue, or a call was made. */
  readonly kind: 'received' | 'queued' | 'called';
  readonly endedAtMs: number;
  readonly durationMs: number;
  readonly isFailed: boolean;
  /** No personal data and no secrets; null values are left out. */
  readonly attributes: Readonly<Record<string, string | number | boolean | null>>;
  /** The W3C `traceparent` of the caller, to which the span is linked. */
  readonly traceparent?: string | undefined;
}

export interface Tracing {
  /** Never throws and never waits. */
  ended(span: EndedSpan): void;
  /** Sends what is collected, for 2 s at most. */
  stop(): Promise<void>;
}

export const NO_TRACING: Tracing = { ended: () => {}, stop: () => Promise.resolve() };

/** The trace id of a tow or violation, 32 hexadecimal digits, and the id of its first span, 16. */
export function traceIdsOf({ kind, id }: TraceSubject): { readonly traceId: string; readonly firstSpanId: string } {
  const digest = createHash('sha256').update(`towhook ${INSTALLATION} ${kind} ${id}`).digest('hex');
  return { traceId: digest.slice(0, 32), firstSpanId: digest.slice(32, 48) };
}
