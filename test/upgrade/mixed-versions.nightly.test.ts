import { silentLog } from '../../src/platform/log/log';
import { pause } from '../../src/platform/timers';
import { connectPatient } from '../../src/store/redis/connect';
import { KEYS, towKey } from '../../src/store/keys';
import { unpackFields } from '../../src/store/redis/packed-fields';
import type { ChaosEnvironment } from '../chaos/environment';
import { runChaos } from '../chaos/run';
import { brokenPromisesOf } from '../chaos/verdict';
import { compiledFile } from '../support/compiled';
import { compilePrevious } from './previous-version';

const TOWS = 150;
const CHAOS_MS = 36_000;
const LIMIT_MS = 240_000;
const MARK_EVERY_MS = 500;
const MARK = 'written by a later version';

type Phase = 'mixed' | 'new' | 'old';

test(
  'the previous version and this one run together under faults, then this one, then the previous one: nothing is lost',
  async () => {
    const [previous, current] = [await compilePrevious(), compiledFile('src/main/index.ts')];
    let phase: Phase = 'mixed';
    const starts = { [previous]: 0, [current]: 0 };
    const programOf = () => {
      const isNew = phase === 'mixed' ? (starts[current] ?? 0) <= (starts[previous] ?? 0) : phase === 'new';
      const program = isNew ? current : previous;
      starts[program] = (starts[program] ?? 0) + 1;
      return program;
    };
    /** All processes of one version, after a third and after two thirds of the faults. */
    const change = async (environment: ChaosEnvironment, signal: AbortSignal) => {
      for (const next of ['new', 'old'] as const) {
        await pause(CHAOS_MS / 3, signal);
        if (signal.aborted) return;
        phase = next;
        // The console has the port that its first process took.
        const replaced = environment.roles.filter(({ name }) => name !== 'console');
        await Promise.all(replaced.map((role) => role.kill(0)));
      }
    };
    const beside = async (environment: ChaosEnvironment, signal: AbortSignal) => {
      const [, lost] = await Promise.all([change(environment, signal), markTows(environment.redisUrl, signal)]);
      return lost;
    };

    const signal = new AbortController().signal;
    const findings = await runChaos({
      seed: 20_261_122,
      tows: TOWS,
      chaosMs: CHAOS_MS,
      limitMs: LIMIT_MS,
      signal,
      show: () => {},
      programOf,
      beside,
    });
    const { finished, played, seconds } = findings;
    process.stdout.write(
      `  ${finished} of ${played} tows in ${Math.round(seconds)} s, starts ${Object.values(starts).join(', ')}\n`,
    );

    expect(findings.problems).toEqual([]);
    expect(brokenPromisesOf(findings)).toEqual([]);
    expect(finished).toBe(played);
    for (const count of Object.values(starts)) expect(count).toBeGreaterThan(3);
  },
  LIMIT_MS + 120_000,
);

/** Adds a field of a later version to each tow as it comes; resolves with the tows that lost it by the end. */
async function markTows(redisUrl: string, signal: AbortSignal): Promise<string[]> {
  const redis = connectPatient(redisUrl, { log: silentLog });
  const marked = new Set<string>();
  while (!signal.aborted) {
    for (const ref of await redis.zrange(KEYS.indexTows, '0', '-1')) {
      if (marked.has(ref)) continue;
      await redis.hset(towKey(ref), 'later', MARK);
      marked.add(ref);
    }
    await pause(MARK_EVERY_MS, signal);
  }
  const lost: string[] = [];
  for (const ref of marked) {
    if (unpackFields(await redis.hgetall(towKey(ref)))['later'] !== MARK) lost.push(`${ref} lost a field`);
  }
  redis.disconnect();
  return marked.size === 0 ? ['no tow was marked'] : lost;
}
