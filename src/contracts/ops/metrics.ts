import { z } from 'zod';
import { COUNTERS, LATENCIES, GAUGES } from '../../domain/ops/metric-names';
import { orUnknown } from '../../domain/stored';
import { SERVICE_MODES, QUEUE_NAMES } from '../../domain/vocabulary';

/** The series of the Ops page, and the heartbeats of processes. */

/**
 * The series of a chart:
 *
 * - `accepted.<delivery kind>`, `processed.<delivery kind>`, `delivered.<sent kind>`, `attempts.<outcome>`: per
 *   minute.
 * - `delivery.p50`, `delivery.p95`, `report.…`, `attempt.…`: ms (domain/ops/metric-names.ts, LATENCIES).
 * - `due.<backlog>`, `tasks`, `held`: a number; `oldest.<backlog>`: ms. The maximum of the samples.
 */
const SERIES_NAMES = [
  ...COUNTERS,
  ...LATENCIES.map((latency) => `${latency}.p50` as const),
  ...LATENCIES.map((latency) => `${latency}.p95` as const),
  ...GAUGES,
];
export type SeriesName = (typeof SERIES_NAMES)[number];

export const seriesLines = z.record(z.enum(SERIES_NAMES), z.array(z.number().nullable()).readonly()).readonly();

/** Roles with a heartbeat. */
export const HEARTBEAT_ROLES = ['receiver', 'worker', 'console', 'all'] as const;
export type HeartbeatRole = (typeof HEARTBEAT_ROLES)[number];

/** The content of a heartbeat. Times are ms since the process started, by a monotonic clock. */
export const processDocument = z.object({
  role: z.enum(HEARTBEAT_ROLES),
  mode: z.enum(SERVICE_MODES).default('live'),
  hostName: z.string(),
  processId: z.number(),
  version: z.string(),
  /** The schema of stored data that it writes. */
  schema: z.number().int().default(1),
  nodeVersion: z.string(),
  /** Names of the failing readiness checks. */
  problems: z.array(z.string()).readonly(),
  /** Ids of the data keys that stored data needs and that it lacks, or has with another content. */
  missingDataKeys: z.array(z.string()).readonly().default([]),
  /** Identifies by variable the service that it calls; null for a process that calls none. */
  service: z
    .object({ SERVICE_BASE_URL: z.string(), SERVICE_PATHS: z.string(), SERVICE_CLIENT_ID: z.string() })
    .nullable()
    .default(null),
  /** How far its clock is ahead of that of Redis; 0 while they nearly agree. */
  clockOffsetSeconds: z.number().int().default(0),
  /** Only of a process with a worker. */
  queues: z
    .array(z.object({ name: orUnknown(QUEUE_NAMES), lastTookMs: z.number().nullable(), isStalled: z.boolean() }))
    .readonly(),
});
export type ProcessDocument = z.infer<typeof processDocument>;

/** The reply of heartbeat.lua. */
export const heartbeatReply = z.tuple([z.enum(['sample', '']), z.coerce.number()]);
