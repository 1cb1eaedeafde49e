import type { Redis } from 'ioredis';
import { heartbeatReply, processDocument } from '../../contracts/ops/metrics';
import { jsonText } from '../../domain/stored';
import { HOUR_MS } from '../../domain/timestamp';
import type { CountedValues } from '../../platform/log/counters';
import type { HeartbeatStore, ProcessStatus, ProcessStore } from '../../workflow/ops/metrics-port';
import { KEYS } from '../keys';
import { METRICS_KEPT_SECONDS } from './metrics';
import { fields, texts } from '../redis/parse';
import { recordsOf } from '../outbox/records';
import { Script } from '../scripts';

const heartbeat = new Script('heartbeat');

export interface HeartbeatSettings {
  /** A process is shown as silent after this time without a heartbeat, ms. */
  readonly silentAfterMs: number;
  /** A silent process is removed after this, ms. */
  readonly dropAfterMs: number;
  /** One process samples the backlog per this interval, ms. */
  readonly sampleEveryMs: number;
}

/**
 * With a heartbeat every 5 s: a process is silent after three missed ones, and every third one may sample the backlog.
 */
export const HEARTBEAT_SETTINGS: HeartbeatSettings = {
  silentAfterMs: 20_000,
  dropAfterMs: HOUR_MS,
  sampleEveryMs: 14_000,
};

/** The live processes; see the header of lua/heartbeat.lua. */
export function createProcessStore(
  redis: Redis,
  settings: HeartbeatSettings = HEARTBEAT_SETTINGS,
): ProcessStore & HeartbeatStore {
  const keys = [KEYS.processes, KEYS.heartbeats, KEYS.metrics, KEYS.metricsSampling];
  const run = async (
    process: { id: string; document: string; uptimeMs: number },
    { added, highest }: CountedValues,
  ) => {
    const { dropAfterMs, sampleEveryMs } = settings;
    const about = [process.id, process.document, Math.round(process.uptimeMs), dropAfterMs, sampleEveryMs];
    const counted = [JSON.stringify(added), JSON.stringify(highest), METRICS_KEPT_SECONDS];
    // A few MB at most. Without heartbeats a full Redis would look as if no process were running.
    const reply = await heartbeat.run(redis, keys, [...about, ...counted], { whenFull: true });
    return heartbeatReply.parse(texts(reply, 'heartbeat'));
  };
  return {
    async beat({ id, uptimeMs, document }, counted) {
      const [kind, atMs] = await run({ id, uptimeMs, document: JSON.stringify(document) }, counted);
      return { maySample: kind === 'sample', atMs };
    },

    async leave(id, counted) {
      await run({ id, uptimeMs: 0, document: '' }, counted);
    },

    async list() {
      const [documents, heartbeats, nowMs] = await Promise.all([
        redis.hgetall(KEYS.processes),
        redis.zrange(KEYS.heartbeats, '0', '-1', 'WITHSCORES'),
        recordsOf(redis).nowMs(),
      ]);
      const heartbeatAt = fields(heartbeats, 'heartbeats');
      const processes = Object.entries(documents).flatMap(
        ([id, stored]) => statusOf({ id, stored, beatAtMs: Number(heartbeatAt.get(id)), nowMs }, settings) ?? [],
      );
      return processes.toSorted((a, b) => a.role.localeCompare(b.role) || a.startedAtMs - b.startedAtMs);
    },
  };
}

/** Null for a process that was silent for too long, and for a document of another version that cannot be read. */
function statusOf(
  { id, stored, beatAtMs, nowMs }: { id: string; stored: string; beatAtMs: number; nowMs: number },
  { silentAfterMs, dropAfterMs }: HeartbeatSettings,
): ProcessStatus | null {
  const space = stored.indexOf(' ');
  const startedAtMs = Number(stored.slice(0, space));
  const beatAgeMs = Math.max(0, nowMs - beatAtMs);
  const document = storedDocument.safeParse(stored.slice(space + 1)).data;
  if (document === undefined || !(beatAgeMs <= dropAfterMs)) return null;
  const { problems, queues, ...process } = document;
  return {
    id,
    ...process,
    startedAtMs,
    beatAtMs,
    beatAgeMs,
    isSilent: beatAgeMs > silentAfterMs,
    isReady: problems.length === 0,
    problems,
    // One of a later version is left out.
    queues: queues.flatMap(({ name, lastTookMs, isStalled }) =>
      typeof name === 'string'
        ? [
            {
              name,
              lastTookAtMs: lastTookMs === null ? null : startedAtMs + lastTookMs,
              isStalled,
            },
          ]
        : [],
    ),
  };
}

const storedDocument = jsonText(processDocument);
