import type { Redis } from 'ioredis';
import { beatReply, processDocument } from '../contracts/figures';
import type { Tallied } from '../platform/tally';
import type { BeatStore, ProcessStanding, ProcessStore } from '../workflow/figures-port';
import { FIGURES_KEPT_SECONDS } from './figures';
import { KEYS } from './keys';
import { fields, texts } from './parse';
import { Script } from './scripts';

const beatScript = new Script('beat');

export interface BeatSettings {
  /** A process that is not heard of for so long is silent. */
  readonly silentAfterMs: number;
  /** A silent process is forgotten after this. */
  readonly dropAfterMs: number;
  /** Of all processes one looks at the backlog in this time. */
  readonly sampleEveryMs: number;
}

/** Beats come every 5 s: three are missed before somebody is called silent; every third one may look at the backlog. */
export const BEAT_SETTINGS: BeatSettings = { silentAfterMs: 20_000, dropAfterMs: 3_600_000, sampleEveryMs: 14_000 };

/** The processes that live; see the header of lua/beat.lua. */
export function createProcessStore(redis: Redis, settings: BeatSettings = BEAT_SETTINGS): ProcessStore & BeatStore {
  const keys = [KEYS.processes, KEYS.processBeats, KEYS.figures, KEYS.figuresSampling];
  const run = async (who: { id: string; document: string; uptimeMs: number }, { added, highest }: Tallied) => {
    const { dropAfterMs, sampleEveryMs } = settings;
    const about = [who.id, who.document, Math.round(who.uptimeMs), dropAfterMs, sampleEveryMs];
    const counted = [JSON.stringify(added), JSON.stringify(highest), FIGURES_KEPT_SECONDS];
    return beatReply.parse(texts(await beatScript.run(redis, keys, [...about, ...counted]), 'beat'));
  };
  return {
    async beat({ id, uptimeMs, document }, counted) {
      const [kind] = await run({ id, uptimeMs, document: JSON.stringify(document) }, counted);
      return { maySample: kind === 'sample' };
    },

    async leave(id, counted) {
      await run({ id, uptimeMs: 0, document: '' }, counted);
    },

    async list() {
      const [documents, beats, [seconds, micros]] = await Promise.all([
        redis.hgetall(KEYS.processes),
        redis.zrange(KEYS.processBeats, '0', '-1', 'WITHSCORES'),
        redis.time(),
      ]);
      const nowMs = Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
      const beatAt = fields(beats, 'process beats');
      const standings = Object.entries(documents).flatMap(
        ([id, said]) => standingOf({ id, said, beatAtMs: Number(beatAt.get(id)), nowMs }, settings) ?? [],
      );
      return standings.toSorted((a, b) => a.role.localeCompare(b.role) || a.startedAtMs - b.startedAtMs);
    },
  };
}

/** Null for what is not heard of any more, and for what a version of another time says and cannot be read. */
function standingOf(
  { id, said, beatAtMs, nowMs }: { id: string; said: string; beatAtMs: number; nowMs: number },
  { silentAfterMs, dropAfterMs }: BeatSettings,
): ProcessStanding | null {
  const space = said.indexOf(' ');
  const startedAtMs = Number(said.slice(0, space));
  const beatAgeMs = Math.max(0, nowMs - beatAtMs);
  const document = readDocument(said.slice(space + 1));
  if (document === null || !(beatAgeMs <= dropAfterMs)) return null;
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
    queues: queues.map(({ name, lastTookMs, standsStill }) => ({
      name,
      lastTookAtMs: lastTookMs === null ? null : startedAtMs + lastTookMs,
      standsStill,
    })),
  };
}

function readDocument(json: string) {
  try {
    return processDocument.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null;
  }
}
