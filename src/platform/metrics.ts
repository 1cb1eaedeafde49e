import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { attemptOutcome, type SentKind } from '../domain/figures';
import type { Verdict } from '../domain/policy';
import type { DeliveryKind } from '../domain/vocabulary';
import { createTally, type Tally } from './tally';

/**
 * What is counted and timed, for Prometheus by process and for the charts of all processes together. Labels are kinds
 * and outcomes only: never a reference, never a plate.
 */
export interface Metrics {
  /** A webhook call was answered. */
  deliveryAnswered(kind: string, httpStatus: number): void;
  /** A delivery was stored that was not known before. */
  deliveryAccepted(kind: DeliveryKind): void;
  /**
   * A delivery was processed; the kind is null when it is gone. `sinceReceivedMs` is null when it had been looked at
   * before, so that its time says nothing.
   */
  deliveryProcessed(kind: DeliveryKind | null, verdict: string, sinceReceivedMs: number | null): void;
  /** A report or a violation was tried; `wasSent` is false when surely nothing went over the wire. */
  reportAttempted(kind: SentKind, next: Verdict['next'], call: { durationMs: number; wasSent: boolean }): void;
  /** A report or a violation was accepted by the service, so long after it was recorded. */
  reportDelivered(kind: SentKind, sinceRecordedMs: number): void;
  /** A request to the operator API was answered. */
  apiAnswered(method: string, httpStatus: number): void;
  /** An API key was wrong, or wrong and over the limit of its address. */
  keyRefused(reason: 'wrong' | 'slowed'): void;
  /** Records were archived. */
  archived(type: string, count: number): void;
  /** Read whenever the metrics are. */
  watchBacklog(queue: string, read: () => Promise<{ due: number; oldestAgeMs: number }>): void;
  /** Adds a gauge whose figures are read whenever the metrics are; what cannot be read is left out. */
  watch(gauge: WatchedGauge): void;
  /**
   * Adds CPU, memory, event loop and garbage collection of this Node process. Called once per process: the collectors
   * observe Node itself and cannot be released.
   */
  watchProcess(): void;
  /** Prometheus text. */
  text(): Promise<{ contentType: string; text: string }>;
}

/** A gauge that shows what is so now, whoever made it so. Registered once per process. */
export interface WatchedGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly read: () => Promise<readonly Figure[]>;
}

export interface Figure {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** For what may wait for an outage to end, or for a person. */
const LONG_SECONDS_BUCKETS = [...SECONDS_BUCKETS, 30, 60, 300, 1800, 3600, 14_400];

/** The tally is counted for whoever charts all processes together. */
export function createMetrics(tally: Tally = createTally()): Metrics {
  const registry = new Registry();
  const registers = [registry];
  const answered = new Counter({
    name: 'towhook_webhook_answers_total',
    help: 'Webhook calls answered, by kind and HTTP status.',
    labelNames: ['kind', 'status'],
    registers,
  });
  const accepted = new Counter({
    name: 'towhook_deliveries_accepted_total',
    help: 'Deliveries stored that were not known before, by kind.',
    labelNames: ['kind'],
    registers,
  });
  const processed = new Counter({
    name: 'towhook_deliveries_processed_total',
    help: 'Deliveries processed, by kind and verdict.',
    labelNames: ['kind', 'verdict'],
    registers,
  });
  const processing = new Histogram({
    name: 'towhook_delivery_processing_seconds',
    help: 'From the acceptance of a delivery to the end of its processing, by kind.',
    labelNames: ['kind'],
    buckets: LONG_SECONDS_BUCKETS,
    registers,
  });
  const attempts = new Histogram({
    name: 'towhook_report_attempt_seconds',
    help: 'Attempts to send a report, by kind and outcome.',
    labelNames: ['kind', 'outcome'],
    buckets: SECONDS_BUCKETS,
    registers,
  });
  const delivered = new Histogram({
    name: 'towhook_report_delivery_seconds',
    help: 'From the recording of a fact or violation to the answer that accepted its report, by kind.',
    labelNames: ['kind'],
    buckets: LONG_SECONDS_BUCKETS,
    registers,
  });
  const api = new Counter({
    name: 'towhook_api_answers_total',
    help: 'Operator API answers, by method and HTTP status.',
    labelNames: ['method', 'status'],
    registers,
  });
  const keysRefused = new Counter({
    name: 'towhook_api_keys_refused_total',
    help: 'Wrong API keys, by reason: wrong (401), or slowed (429) after too many from one address.',
    labelNames: ['reason'],
    registers,
  });
  const archived = new Counter({
    name: 'towhook_archived_total',
    help: 'Records written to the archive, by type.',
    labelNames: ['type'],
    registers,
  });
  const backlogs = new Map<string, () => Promise<{ due: number; oldestAgeMs: number }>>();
  const due = new Gauge({ name: 'towhook_due', help: 'Records due for work now.', labelNames: ['queue'], registers });
  const oldest = new Gauge({
    name: 'towhook_due_oldest_seconds',
    help: 'How long the oldest due record has been due.',
    labelNames: ['queue'],
    registers,
  });
  return {
    deliveryAnswered: (kind, status) => answered.inc({ kind, status }),
    deliveryAccepted(kind) {
      accepted.inc({ kind });
      tally.count(`accepted.${kind}`);
    },
    deliveryProcessed(kind, verdict, sinceReceivedMs) {
      processed.inc({ kind: kind ?? 'none', verdict });
      if (kind === null || sinceReceivedMs === null) return;
      processing.observe({ kind }, sinceReceivedMs / 1000);
      tally.count(`processed.${kind}`);
      tally.timed('delivery', sinceReceivedMs);
    },
    reportAttempted(kind, next, { durationMs, wasSent }) {
      attempts.observe({ kind, outcome: next }, durationMs / 1000);
      tally.count(`attempts.${attemptOutcome(next)}`);
      if (wasSent) tally.timed('attempt', durationMs);
    },
    reportDelivered(kind, sinceRecordedMs) {
      delivered.observe({ kind }, sinceRecordedMs / 1000);
      tally.count(`delivered.${kind}`);
      tally.timed('report', sinceRecordedMs);
    },
    apiAnswered: (method, status) => api.inc({ method, status }),
    keyRefused: (reason) => keysRefused.inc({ reason }),
    archived: (type, count) => archived.inc({ type }, count),
    watchBacklog: (queue, read) => {
      backlogs.set(queue, read);
    },
    watch: (gauge) => watchGauge(gauge, registry),
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    async text() {
      for (const [queue, read] of backlogs) {
        const backlog = await read().catch(() => null);
        // A figure that cannot be read is left out; the others still count.
        due.remove({ queue });
        oldest.remove({ queue });
        if (!backlog) continue;
        due.set({ queue }, backlog.due);
        oldest.set({ queue }, backlog.oldestAgeMs / 1000);
      }
      return { contentType: registry.contentType, text: await registry.metrics() };
    },
  };
}

function watchGauge({ name, help, labelNames, read }: WatchedGauge, registry: Registry): void {
  const gauge = new Gauge({ name, help, labelNames: [...labelNames], registers: [], collect });
  registry.registerMetric(gauge);
  async function collect() {
    const figures = await read().catch(() => []);
    gauge.reset();
    // A gauge without labels is reset to 0, which would be a figure that nobody read.
    if (labelNames.length === 0) gauge.remove({});
    for (const { labels, value } of figures) gauge.set(labels, value);
  }
}
