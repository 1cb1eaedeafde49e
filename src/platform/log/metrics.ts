import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { attemptOutcome } from '../../domain/ops/metric-names';
import type { NoticeOutcome } from '../../domain/ops/notices';
import { NOTICE_CHANNELS, type NoticeChannel } from '../../domain/ops/notification-settings';
import type { Verdict } from '../../domain/service/policy';
import { DELIVERY_KINDS, ENTRY_KINDS, type DeliveryKind, type EntryKind } from '../../domain/vocabulary';
import { refusalReasonOf, type WebhookOutcome, type WebhookPath } from '../../domain/webhook/webhook-answers';
import type { ClosedConnection } from '../connections';
import { createCounters, type Counters } from './counters';
import { INSTALLATION } from '../config/installation';
import { within } from '../timers';

const LISTENERS = ['receiver', 'console', 'ops'] as const;
export type ListenerName = (typeof LISTENERS)[number];

const FORM_REFUSALS = ['too_large', 'too_many'] as const;
export type FormRefusal = (typeof FORM_REFUSALS)[number];

/**
 * Counters, histograms and gauges: for Prometheus per process, and for the charts of all processes together. Labels are
 * kinds and outcomes only, never a reference or a plate.
 */
export interface Metrics {
  /** A call to the receiver was answered. */
  deliveryAnswered(path: WebhookPath, httpStatus: number, outcome: WebhookOutcome): void;
  /** A new delivery was stored. */
  deliveryAccepted(kind: DeliveryKind): void;
  /**
   * A delivery was processed; `kind` is null when the delivery no longer exists. `sinceReceivedMs` is null when it was
   * processed before.
   */
  deliveryProcessed(kind: DeliveryKind | null, verdict: string, sinceReceivedMs: number | null): void;
  /** A report or violation was attempted; `wasSent` is false when surely no byte was sent. */
  reportAttempted(kind: EntryKind, next: Verdict['next'], call: { durationMs: number; wasSent: boolean }): void;
  /** The service accepted a report or violation, this long after it was recorded. */
  reportDelivered(kind: EntryKind, sinceRecordedMs: number): void;
  /** The service refused a call for its rate limit (429). */
  callThrottled(budget: string, count?: number): void;
  /** An answer had rate limit headers that make no sense. */
  limitHeadersIgnored(budget: string): void;
  /** A request to the operator API was answered. */
  apiAnswered(method: string, httpStatus: number): void;
  /** An API key was wrong, or wrong and over the limit of its address. */
  keyRefused(reason: 'wrong' | 'slowed'): void;
  /** A listener with too many connections closed one: an idle one, or the new one. */
  connectionClosed(listener: ListenerName, reason: ClosedConnection['reason']): void;
  /** A form of the console was not read: it had too many fields, or its source has sent too many without a session. */
  formRefused(reason: FormRefusal): void;
  archived(type: string, count: number): void;
  /** A notice about alarms was attempted. */
  noticeAttempted(channel: NoticeChannel, outcome: NoticeOutcome['kind']): void;
  /** Adds a gauge that is read when the metrics are read. A value that cannot be read is left out. */
  watch(gauge: WatchedGauge): void;
  /**
   * Adds CPU, memory, event loop and garbage collection of this process. Called once per process, because the
   * collectors cannot be released.
   */
  watchProcess(): void;
  /** Prometheus text. */
  text(): Promise<{ contentType: string; text: string }>;
}

/** A gauge whose values are read on demand. Registered once per process. */
export interface WatchedGauge {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  readonly read: () => Promise<readonly MetricSample[]>;
}

export interface MetricSample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Adds a gauge. `samplesOf` turns what was read into its values. */
export type WatchGauge<T> = (
  name: string,
  help: string,
  labelNames: readonly string[],
  samplesOf: (source: T) => readonly MetricSample[] | Promise<readonly MetricSample[]>,
) => void;

/**
 * For several gauges of one source: while a read is under way, all that ask for it get its result. With `limitMs`, none
 * waits longer for it, and the gauges are left out.
 */
export function watcher<T>(
  metrics: Pick<Metrics, 'watch'>,
  read: () => Promise<T>,
  limitMs: number | null = null,
): WatchGauge<T> {
  let reading: Promise<T> | null = null;
  const readOnce = () =>
    (reading ??= read().finally(() => {
      reading = null;
    }));
  const readInTime = async () => {
    if (limitMs === null) return readOnce();
    const inTime = await within(limitMs, readOnce());
    if (inTime === null) throw new Error('not read in time');
    return inTime.value;
  };
  return (name, help, labelNames, samplesOf) =>
    metrics.watch({ name, help, labelNames, read: async () => samplesOf(await readInTime()) });
}

/** One sample without labels; none where the value is not known. */
export function sampleOf(value: number | null): MetricSample[] {
  return value === null ? [] : [{ labels: {}, value }];
}

/** The same for a time in ms, in seconds. */
export function secondsOf(ms: number | null): MetricSample[] {
  return sampleOf(ms === null ? null : ms / 1000);
}

const SECONDS_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** For times that include an outage or the decision of a person. */
const LONG_SECONDS_BUCKETS = [...SECONDS_BUCKETS, 30, 60, 300, 1800, 3600, 14_400];
/** A look at the event loop wakes the process: every 10 ms, as is usual, takes 1 % of a processor. */
const EVENT_LOOP_SAMPLE_MS = 50;

/** `counters` collect the values for the charts of all processes. */
export function createMetrics(counters: Counters = createCounters()): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ installation: INSTALLATION });
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter({ name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, labelNames: readonly L[], buckets: number[]) =>
    new Histogram({ name, help, labelNames, buckets, registers });
  const answered = counter(
    'towhook_webhook_answers_total',
    'Calls to the receiver answered, by kind of webhook (other: another address), HTTP status and outcome.',
    ['kind', 'status', 'outcome'],
  );
  const accepted = counter(
    'towhook_deliveries_accepted_total',
    'Deliveries stored that were not known before, by kind.',
    ['kind'],
  );
  const processed = counter('towhook_deliveries_processed_total', 'Deliveries processed, by kind and verdict.', [
    'kind',
    'verdict',
  ]);
  const processing = histogram(
    'towhook_delivery_processing_seconds',
    'From the acceptance of a delivery to the end of its processing, by kind.',
    ['kind'],
    LONG_SECONDS_BUCKETS,
  );
  const attempts = histogram(
    'towhook_report_attempt_seconds',
    'Attempts to send a report, by kind and outcome.',
    ['kind', 'outcome'],
    SECONDS_BUCKETS,
  );
  const delivered = histogram(
    'towhook_report_delivery_seconds',
    'From the recording of a fact or violation to the answer that accepted its report, by kind.',
    ['kind'],
    LONG_SECONDS_BUCKETS,
  );
  const callsThrottled = counter(
    'towhook_calls_throttled_total',
    'Calls that the service refused for its rate limit (429), by budget.',
    ['budget'],
  );
  const headersIgnored = counter(
    'towhook_limit_headers_ignored_total',
    'Answers of the service with rate limit headers that make no sense, by budget.',
    ['budget'],
  );
  const api = counter('towhook_api_answers_total', 'Operator API answers, by method and HTTP status.', [
    'method',
    'status',
  ]);
  const keysRefused = counter(
    'towhook_api_keys_refused_total',
    'Wrong API keys, by reason: wrong (401), or slowed (429) after too many from one address.',
    ['reason'],
  );
  const formsRefused = counter(
    'towhook_forms_refused_total',
    'Forms of the console that were not read: too_large = too many fields or bytes, too_many = without a session, from one address.',
    ['reason'],
  );
  const connectionsClosed = counter(
    'towhook_connections_closed_total',
    'Connections closed because a listener or a source had too many: idle = one without a request, dropped = the new one.',
    ['listener', 'reason'],
  );
  const archived = counter('towhook_archived_total', 'Records written to the archive, by type.', ['type']);
  const noticeAttempts = counter(
    'towhook_notice_attempts_total',
    'Attempts to deliver a notice about alarms, by channel and outcome.',
    ['channel', 'outcome'],
  );
  // A counter that appears with its first count hides it from `increase`.
  for (const reason of ['wrong', 'slowed']) keysRefused.inc({ reason }, 0);
  for (const listener of LISTENERS) {
    for (const reason of ['idle', 'dropped']) connectionsClosed.inc({ listener, reason }, 0);
  }
  for (const reason of FORM_REFUSALS) formsRefused.inc({ reason }, 0);
  for (const kind of DELIVERY_KINDS) accepted.inc({ kind }, 0);
  for (const kind of ENTRY_KINDS) {
    delivered.zero({ kind });
    for (const outcome of ['accepted', 'refused', 'retry', 'unknown', 'hold']) attempts.zero({ kind, outcome });
  }
  for (const channel of NOTICE_CHANNELS) {
    for (const outcome of ['delivered', 'failed']) noticeAttempts.inc({ channel, outcome }, 0);
  }
  return {
    deliveryAnswered(kind, status, outcome) {
      answered.inc({ kind, status, outcome });
      // Strangers call other paths all the time: such a call is no refused webhook.
      const isStrange = kind === 'other' && refusalReasonOf(outcome) !== null;
      counters.count(`answers.${isStrange ? 'address' : outcome}`);
    },
    deliveryAccepted(kind) {
      accepted.inc({ kind });
      counters.count(`accepted.${kind}`);
    },
    deliveryProcessed(kind, verdict, sinceReceivedMs) {
      processed.inc({ kind: kind ?? 'none', verdict });
      if (kind === null || sinceReceivedMs === null) return;
      processing.observe({ kind }, sinceReceivedMs / 1000);
      counters.count(`processed.${kind}`);
      counters.timed('delivery', sinceReceivedMs);
    },
    reportAttempted(kind, next, { durationMs, wasSent }) {
      attempts.observe({ kind, outcome: next }, durationMs / 1000);
      counters.count(`attempts.${attemptOutcome(next)}`);
      if (wasSent) counters.timed('attempt', durationMs);
    },
    reportDelivered(kind, sinceRecordedMs) {
      delivered.observe({ kind }, sinceRecordedMs / 1000);
      counters.count(`delivered.${kind}`);
      counters.timed('report', sinceRecordedMs);
    },
    callThrottled: (budget, count = 1) => callsThrottled.inc({ budget }, count),
    limitHeadersIgnored: (budget) => headersIgnored.inc({ budget }),
    apiAnswered: (method, status) => api.inc({ method, status }),
    keyRefused: (reason) => keysRefused.inc({ reason }),
    connectionClosed: (listener, reason) => connectionsClosed.inc({ listener, reason }),
    formRefused: (reason) => formsRefused.inc({ reason }),
    archived: (type, count) => archived.inc({ type }, count),
    noticeAttempted: (channel, outcome) => noticeAttempts.inc({ channel, outcome }),
    watch: (gauge) => watchGauge(gauge, registry),
    watchProcess: () =>
      collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_SAMPLE_MS }),
    text: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  };
}

function watchGauge({ name, help, labelNames, read }: WatchedGauge, registry: Registry): void {
  const gauge = new Gauge({ name, help, labelNames: [...labelNames], registers: [], collect });
  registry.registerMetric(gauge);
  async function collect() {
    const figures = await read().catch(() => []);
    gauge.reset();
    // `reset` sets a gauge without labels to 0, a value that was never read.
    if (labelNames.length === 0) gauge.remove({});
    for (const { labels, value } of figures) gauge.set(labels, value);
  }
}
