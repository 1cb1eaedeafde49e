import type { Redis } from 'ioredis';
import {
  CHANGE_FIELD,
  CHANGES_PER_PAGE,
  cursorOf,
  isPositionAfter,
  readChangeCursor,
  storedChange,
  streamEntries,
  streamReply,
  type ChangeView,
  type StreamEntry,
} from '../../contracts/ops/changes';
import type { NewChange } from '../../domain/ops/changes';
import { isoTimestamp } from '../../domain/timestamp';
import { errorFacts } from '../../platform/errors';
import type { Log } from '../../platform/log/log';
import { pause, within } from '../../platform/timers';
import type { ChangeFeed, ChangeListener, WantedChanges } from '../../workflow/ops/changes';
import { KEYS } from '../keys';
import { repliesOf } from '../redis/batch-reads';
import type { Effect } from '../redis/commit';

/**
 * The stream of changes: one entry per change, which the commit of the change adds. Its one field has the type, the kind and
 * the id of the subject, the sequence and the data as a JSON list. Retention removes old entries, and stores the id of the
 * last one that it has removed: a reader that has got there has missed none.
 */

/** Entries that one read with a filter looks at, so that it ends in time. */
const LOOKED_AT_MAX = 10_000;
const START = '0-0';
/** Until a process has stored one. */
const NO_EPOCH = '0'.repeat(12);

/** The effect that adds a change. */
export function changeEffect({ type, subject, sequence, data }: NewChange): Effect {
  const stored = [type, subject?.kind ?? null, subject?.id ?? null, sequence, data];
  return ['XADD', KEYS.changes, '*', CHANGE_FIELD, JSON.stringify(stored)];
}

function viewOf(epoch: string, [position, [, json]]: StreamEntry): ChangeView {
  const [type, kind, id, sequence, data] = storedChange.parse(json);
  return {
    cursor: cursorOf(epoch, position),
    at: isoTimestamp(Number(position.split('-', 1)[0])),
    type,
    subject: kind === null || id === null ? null : { kind, id },
    sequence,
    data,
  };
}

interface StreamPage {
  readonly epoch: string;
  /** Of the last entry that was removed. */
  readonly floor: string;
  /** Of the last entry. */
  readonly end: string;
  readonly read: readonly StreamEntry[];
}

/** Reads entries, and then what shows whether entries before them are missing. */
async function readStream(redis: Redis, after: string, count: number): Promise<StreamPage> {
  const [read, epoch, floor, last] = await repliesOf(
    redis
      .pipeline()
      .xrange(KEYS.changes, `(${after}`, '+', 'COUNT', count)
      .get(KEYS.epoch)
      .get(KEYS.changesFloor)
      .xrevrange(KEYS.changes, '+', '-', 'COUNT', 1),
  );
  const start = typeof floor === 'string' ? floor : START;
  return {
    epoch: epochIn(epoch),
    floor: start,
    end: lastIn(last) ?? start,
    read: streamEntries.parse(read),
  };
}

/** Where the stream ends. */
async function readEnd(redis: Redis): Promise<Pick<StreamPage, 'epoch' | 'end'>> {
  const [epoch, last] = await repliesOf(redis.pipeline().get(KEYS.epoch).xrevrange(KEYS.changes, '+', '-', 'COUNT', 1));
  return { epoch: epochIn(epoch), end: lastIn(last) ?? (await redis.get(KEYS.changesFloor)) ?? START };
}

function epochIn(reply: unknown): string {
  return typeof reply === 'string' ? reply : NO_EPOCH;
}

function lastIn(reply: unknown): string | undefined {
  return streamEntries.parse(reply)[0]?.[0];
}

function isWanted({ type, subject }: ChangeView, wanted: WantedChanges): boolean {
  if (wanted.types && !wanted.types.some((name) => name === type)) return false;
  return wanted.subject === undefined || (subject?.kind === wanted.subject?.kind && subject?.id === wanted.subject?.id);
}

function isEveryOne({ types, subject }: WantedChanges): boolean {
  return types === undefined && subject === undefined;
}

/** Reads the changes after a cursor. */
export function createChangeReader(redis: Redis): Pick<ChangeFeed, 'now' | 'read'> {
  return {
    async now() {
      const { epoch, end } = await readEnd(redis);
      return cursorOf(epoch, end);
    },

    async read(after, { limit, ...wanted }) {
      const from = readChangeCursor(after);
      const items: ChangeView[] = [];
      const count = isEveryOne(wanted) ? Math.min(limit, CHANGES_PER_PAGE) : CHANGES_PER_PAGE;
      let position = from?.position ?? START;
      for (let looked = 0; ;) {
        // oxlint-disable-next-line eslint/no-await-in-loop
        const { epoch, floor, end, read } = await readStream(redis, position, count);
        if (from?.epoch !== epoch || isPositionAfter(floor, position) || isPositionAfter(position, end)) {
          return { isExpired: true, items: [], nextCursor: cursorOf(epoch, end) };
        }
        for (const entry of read) {
          [position] = entry;
          const change = viewOf(epoch, entry);
          if (isWanted(change, wanted)) items.push(change);
          if (items.length === limit) return { isExpired: false, items, nextCursor: change.cursor };
        }
        looked += read.length;
        if (read.length < count || looked >= LOOKED_AT_MAX) {
          return { isExpired: false, items, nextCursor: cursorOf(epoch, position) };
        }
      }
    },
  };
}

/** How long a blocking read waits: less than the time limit of the socket. */
const BLOCK_MS = 15_000;
const RETRY_MS = 1000;

export interface OpenFeed extends ChangeFeed {
  stop(): void;
}

/** Follows the stream with one blocking read at a time on a connection of its own, which waits for Redis to come back. */
export function openChangeFeed(redis: Redis, connection: Redis, log: Log, blockMs = BLOCK_MS): OpenFeed {
  const reader = createChangeReader(redis);
  const listeners = new Set<ChangeListener>();
  const waiting = new Set<() => void>();
  let seen: { readonly epoch: string; readonly position: string } | null = null;
  const ending = new AbortController();
  /** Whether the last read found changes, and when the end was looked at last. */
  let isBusy = false;
  let lookedAtMs = -Infinity;

  /** Looks where the stream ends, at the start, while nothing comes, and after a failure. */
  const look = async () => {
    const { epoch, end } = await readEnd(connection);
    lookedAtMs = performance.now();
    if (seen?.epoch === epoch && !isPositionAfter(seen.position, end)) return seen;
    // Another epoch, or an end that went back: Redis has lost entries. At the start, a listener may have read up to an
    // earlier end.
    for (const { missed } of listeners) missed(cursorOf(epoch, end));
    return { epoch, position: end };
  };
  const followOn = async () => {
    const isRecent = isBusy && performance.now() - lookedAtMs < blockMs;
    const { epoch, position } = isRecent && seen ? seen : (seen = await look());
    const reply = await connection.xread(
      'COUNT',
      CHANGES_PER_PAGE,
      'BLOCK',
      blockMs,
      'STREAMS',
      KEYS.changes,
      position,
    );
    const read = streamReply.parse(reply)?.[0][1] ?? [];
    const last = read.at(-1);
    isBusy = last !== undefined;
    if (!last) return;
    // One that cannot be read must not stop those behind it: the next look tells that some were missed.
    seen = null;
    const changes = read.map((entry) => viewOf(epoch, entry));
    seen = { epoch, position: last[0] };
    for (const { changed } of listeners) changed(changes);
    for (const wake of waiting) wake();
  };
  const run = async () => {
    while (!ending.signal.aborted) {
      try {
        // oxlint-disable-next-line eslint/no-await-in-loop
        await followOn();
      } catch (error) {
        if (ending.signal.aborted) return;
        isBusy = false;
        log.error('changes.failed', errorFacts(error));
        // oxlint-disable-next-line eslint/no-await-in-loop
        await pause(RETRY_MS, ending.signal);
      }
    }
  };
  void run();
  return {
    ...reader,
    async wait(after, limitMs) {
      const from = readChangeCursor(after);
      if (seen && from && isPositionAfter(seen.position, from.position)) return;
      let wake = () => {};
      const woken = new Promise<void>((resolve) => (wake = resolve));
      waiting.add(wake);
      await within(limitMs, woken);
      waiting.delete(wake);
    },
    follow(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    stop() {
      ending.abort();
      for (const wake of waiting) wake();
    },
  };
}
