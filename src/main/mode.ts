import { isoTimestamp } from '../domain/timestamp';
import type { Config } from '../platform/config/config';
import type { ReadinessCheck } from '../platform/http';
import type { Log } from '../platform/log/log';
import { repeat } from '../platform/timers';
import { createProcessStore } from '../store/ops/processes';
import { recordsOf } from '../store/outbox/records';
import type { HeartbeatGaps } from '../workflow/ops/heartbeat';
import { agreeOnMode, CONTRADICTION, type CommonMode, type ModeTools } from '../workflow/outbox/service-mode';
import type { Foundation } from './foundation';

const EVERY_MS = 5000;

/** The mode of the installation, as this process saw it last. */
export interface ModeWatch {
  /** Null until Redis was reached for the first time. */
  last(): CommonMode | null;
  /** What the switch of ops needs. */
  readonly tools: ModeTools;
  stop(): Promise<void>;
}

/** Agrees with the other processes on the mode: now, and every 5 s. Rejects never; Redis may be away. */
export async function watchMode(tools: {
  readonly config: Config;
  readonly redis: Foundation['redis'];
  readonly heartbeatGaps: HeartbeatGaps;
  /** Throttled: the lines repeat. */
  readonly troubleLog: Log;
}): Promise<ModeWatch> {
  const { config, redis, heartbeatGaps, troubleLog: log } = tools;
  const modeTools = {
    mode: config.service.mode,
    records: recordsOf(redis),
    processes: createProcessStore(redis),
    areOthersKnown: () => heartbeatGaps.areOthersKnown(),
    log,
  };
  let last: CommonMode | null = null;
  const agree = async () => {
    last = await agreeOnMode(modeTools);
  };
  // A process that sends nothing stops the others before it works. Redis that is away blocks it too.
  await agree().catch(() => {});
  const repetition = repeat({
    name: 'mode',
    everyMs: EVERY_MS,
    // Not again at once: a start loads modules for longer than a command may take, and a late reply ends the connection.
    firstAfterMs: EVERY_MS,
    log,
    work: agree,
  });
  return { last: () => last, tools: modeTools, stop: () => repetition.stop() };
}

/** Names the mode on a private `/readyz`; always ready: recording works in every mode. */
export function modeCheck({ config, mode }: Pick<Foundation, 'config' | 'mode'>): ReadinessCheck {
  return () => {
    const last = mode.last();
    const since = last?.sinceMs ?? null;
    const details = {
      service_mode: config.service.mode,
      ...(since === null ? {} : { nothing_sent_since: isoTimestamp(since) }),
      ...(last?.isContradicted === true ? { service_mode_contradicted: CONTRADICTION } : {}),
    };
    return Promise.resolve({ ready: true, details });
  };
}
