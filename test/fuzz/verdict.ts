import type { FuzzFindings } from './run';
import { REFUSED_MAX } from './memory';

/**
 * What the parsers may keep: they hold no state, so only code that V8 compiled late and its caches.
 */
export const DIRECT_HEAP_BYTES_MAX = 8 * 1024 * 1024;
/**
 * What the product may keep after its warm-up: events of the last minute, remembered addresses and keys, throttled log
 * lines, the queue library's caches. All are bounded by number or by time, none by what was sent.
 */
export const PRODUCT_HEAP_BYTES_MAX = 32 * 1024 * 1024;
/** V8 and the allocator give freed pages back late: this bound only finds what grows with every input. */
export const PRODUCT_RSS_BYTES_MAX = 128 * 1024 * 1024;

/** The requirements that a run broke, without the failing inputs. */
export function brokenBoundsOf({ direct, http: { memory } }: FuzzFindings): string[] {
  const bounds: readonly (readonly [what: string, value: number, most: number])[] = [
    ['heap of the parsers grew, bytes', direct.grownBytes, DIRECT_HEAP_BYTES_MAX],
    ['heap of the product grew, bytes', memory.heapGrownBytes, PRODUCT_HEAP_BYTES_MAX],
    ['memory of the product grew, bytes', memory.rssGrownBytes, PRODUCT_RSS_BYTES_MAX],
    ['Redis grew, bytes', memory.redisGrownBytes, memory.redisAllowedBytes],
    ['refused calls that are kept', memory.refused, REFUSED_MAX],
  ];
  return bounds.flatMap(([what, value, most]) => (value <= most ? [] : [`${what}: ${value}, at most ${most}`]));
}
