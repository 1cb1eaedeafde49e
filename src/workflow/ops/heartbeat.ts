import type { HeartbeatRole, ProcessDocument } from '../../contracts/ops/metrics';
import { QUEUE_NAMES, type QueueName } from '../../domain/vocabulary';
import type { Clock } from '../../platform/clock';
import type { Counters } from '../../platform/log/counters';
import type { ReadinessCheck } from '../../platform/http';
import type { Log } from '../../platform/log/log';
import { repeat, within, type Repetition } from '../../platform/timers';
import type { TaskList } from '../list-port';
import type { HeartbeatStore } from './metrics-port';
import type { SendingStore } from '../ports';

const EVERY_MS = 5000;
/** A disk that hangs must not delay the heartbeat. */
const CHECK_LIMIT_MS = 2000;

/** What a process reports about itself with each heartbeat. */
export interface ReportedStatus {
  /** Readiness checks by name. A full Redis takes heartbeats and nothing else, so it is checked too. */
  readonly checks: Readonly<Record<string, ReadinessCheck>>;
  /** Ids of the data keys that it lacks. */
  readonly missingDataKeys: () => Promise<readonly string[]>;
  /** The queues of its worker; `lastTookMs` is a monotonic time. Empty without a worker. */
  readonly queues: () => ProcessDocument['queues'];
}

export interface HeartbeatSender {
  /** Sends heartbeats from now on. A process that never starts completely sends none. */
  start(status: ReportedStatus): void;
  /** Sends one now. Rejects when Redis does not store it. */
  send(): Promise<void>;
  /** Resolves once a heartbeat is stored, so that other processes see this one. */
  readonly firstStored: Promise<void>;
  /** How far the clock of this process is ahead of that of Redis; 0 while they differ by less than 30 s. */
  clockOffsetSeconds(): number;
  /** Ends the heartbeats, stores the remaining counters and removes the process from the list. */
  stop(): Promise<void>;
}

/**
 * Stores every 5 s that this process lives, which checks fail, and what it counted since the last heartbeat. While Redis
 * is away a throttled line is logged, and the counters of that time are lost.
 */
export function createHeartbeatSender(tools: {
  readonly store: HeartbeatStore;
  readonly process: Omit<ProcessDocument, 'problems' | 'missingDataKeys' | 'clockOffsetSeconds' | 'queues'> & {
    role: HeartbeatRole;
  };
  readonly counters: Counters;
  /** Notes which heartbeats are stored. */
  readonly gaps: HeartbeatGaps;
  /** Sets the gauges of the backlog; called by one process at a time. */
  readonly sample: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}): HeartbeatSender {
  const { store, counters, gaps, clock } = tools;
  const id = clock.id();
  const startedMs = clock.monotonicMs();
  let status: ReportedStatus | null = null;
  let repetition: Repetition | null = null;
  let clockOffsetSeconds = 0;
  let shownOffset = { seconds: 0, untilMs: -Infinity };
  let last: Beaten | null = null;
  let resolveFirst = () => {};
  const firstStored = new Promise<void>((resolve) => {
    resolveFirst = resolve;
  });

  const beat = async (given: ReportedStatus) => {
    const document: ProcessDocument = {
      ...tools.process,
      problems: await failedChecks(given),
      missingDataKeys: await given.missingDataKeys(),
      clockOffsetSeconds: clock.monotonicMs() < shownOffset.untilMs ? shownOffset.seconds : 0,
      queues: given.queues().map(({ name, lastTookMs, isStalled }) => ({
        name,
        lastTookMs: lastTookMs === null ? null : Math.round(lastTookMs - startedMs),
        isStalled,
      })),
    };
    const uptimeMs = clock.monotonicMs() - startedMs;
    const [sentMs, ranMs] = [clock.nowMs(), clock.monotonicMs()];
    const stored = await store.beat({ id, uptimeMs, document }, counters.take());
    const beaten = { atMs: stored.atMs, sentMs: ranMs, receivedMs: clock.monotonicMs() };
    const steppedSeconds = last === null ? 0 : stepSeconds(last, beaten);
    last = beaten;
    return { ...stored, sentMs, steppedSeconds };
  };
  const send = async () => {
    if (status === null) return;
    const { maySample, atMs, sentMs, steppedSeconds } = await beat(status).catch((error: unknown) => {
      gaps.missed();
      throw error;
    });
    gaps.stored();
    resolveFirst();
    clockOffsetSeconds = offsetSeconds(atMs, { sentMs, receivedMs: clock.nowMs() });
    const seconds = clockOffsetSeconds === 0 ? steppedSeconds : clockOffsetSeconds;
    if (seconds !== 0) {
      shownOffset = { seconds, untilMs: clock.monotonicMs() + OFFSET_SHOWN_MS };
      const measured = { ahead_of_redis_seconds: clockOffsetSeconds, redis_stepped_seconds: steppedSeconds };
      tools.log.error('clock.off', { ...measured, problem: CLOCK_PROBLEM });
    }
    if (maySample) await tools.sample();
  };
  return {
    start(given) {
      status = given;
      repetition ??= repeat({
        name: 'beat',
        everyMs: EVERY_MS,
        log: tools.log,
        work: send,
      });
    },
    send,
    firstStored,
    clockOffsetSeconds: () => clockOffsetSeconds,
    async stop() {
      if (repetition === null) return;
      await repetition.stop();
      await store.leave(id, counters.take());
    },
  };
}

/** A stored heartbeat: the time of Redis, and when it was sent and answered by the monotonic clock. */
interface Beaten {
  readonly atMs: number;
  readonly sentMs: number;
  readonly receivedMs: number;
}

/** Times in reports are those of the process; a clock is set by NTP to far less than this. */
const CLOCK_BORNE_MS = 30_000;
/** Other processes see an offset for so long: a clock that was wrong for a moment may have put work off. */
const OFFSET_SHOWN_MS = 300_000;
const CLOCK_PROBLEM = 'the clock of this machine or that of Redis is wrong: times that are recorded and sent are too';

/** How far the clock is ahead of that of Redis at least, however long the call took; 0 if the difference is borne. */
function offsetSeconds(redisMs: number, { sentMs, receivedMs }: { sentMs: number; receivedMs: number }): number {
  const aheadMs = Math.max(0, sentMs - redisMs) + Math.min(0, receivedMs - redisMs);
  return Math.abs(aheadMs) > CLOCK_BORNE_MS ? Math.round(aheadMs / 1000) : 0;
}

/**
 * How far the time of Redis was set forward between two heartbeats at least; 0 if that is borne. On one machine the clock
 * of this process is set with it, so only a monotonic one shows that.
 */
function stepSeconds(last: Beaten, { atMs, sentMs, receivedMs }: Beaten): number {
  const ranMs = { sentMs: sentMs - last.receivedMs, receivedMs: receivedMs - last.sentMs };
  return 0 - offsetSeconds(atMs - last.atMs, ranMs);
}

/** Names of the checks that fail, reject or take too long. */
async function failedChecks({ checks }: ReportedStatus): Promise<string[]> {
  const results = Object.entries(checks).map(async ([name, check]) => {
    const result = await within(CHECK_LIMIT_MS, check());
    return result?.value.ready === true ? [] : [name];
  });
  return (await Promise.all(results)).flat();
}

/** Sets the gauges of open tasks, blocked records and the backlog of each queue. Rejects when Redis does. */
export async function sampleGauges(tools: {
  readonly counters: Counters;
  readonly tasks: Pick<TaskList, 'count'>;
  readonly sending: Pick<SendingStore, 'held'>;
  readonly backlogOf: (name: QueueName) => Promise<{ due: number; oldestAgeMs: number }>;
}): Promise<void> {
  const { counters, tasks, sending, backlogOf } = tools;
  const [openTasks, held, ...backlogs] = await Promise.all([
    tasks.count(),
    sending.held(),
    ...QUEUE_NAMES.map(async (name) => ({ name, ...(await backlogOf(name)) })),
  ]);
  counters.level('tasks', openTasks);
  counters.level('held', held);
  for (const { name, due, oldestAgeMs } of backlogs) {
    counters.level(`due.${name}`, due);
    counters.level(`oldest.${name}`, oldestAgeMs);
  }
}

/**
 * Whether the absence of other processes can be believed. After a time in which Redis stored no heartbeats, all other
 * processes look silent until their next one.
 */
export interface HeartbeatGaps {
  /** A heartbeat of this process was stored. */
  stored(): void;
  /** A heartbeat of this process was not stored. */
  missed(): void;
  /**
   * False from a gap in the heartbeats of this process until they were stored again for longer than a process may be
   * silent; true before the first one.
   */
  areOthersKnown(): boolean;
}

/** Twice the time between two heartbeats. A freeze of the machine misses none, but stores none either. */
const GAP_MS = 10_000;

/** @param silentAfterMs after how long without a heartbeat a process counts as silent. */
export function createHeartbeatGaps(clock: Pick<Clock, 'monotonicMs'>, silentAfterMs: number): HeartbeatGaps {
  let storedAtMs: number | null = null;
  let gapEndedAtMs = -Infinity;
  let hasMissed = false;
  const isInGap = (nowMs: number) => hasMissed || (storedAtMs !== null && nowMs - storedAtMs > GAP_MS);
  return {
    stored() {
      const nowMs = clock.monotonicMs();
      if (isInGap(nowMs)) gapEndedAtMs = nowMs;
      storedAtMs = nowMs;
      hasMissed = false;
    },
    missed() {
      hasMissed = true;
    },
    areOthersKnown() {
      const nowMs = clock.monotonicMs();
      return !isInGap(nowMs) && nowMs - gapEndedAtMs > silentAfterMs;
    },
  };
}
