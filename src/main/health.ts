import type { Health } from '../platform/http';
import { writability } from '../store/connect';
import { redisFaults } from '../store/settings';
import type { SpoolState } from '../workflow/spool-port';
import type { Foundation } from './foundation';

/** One more thing that a process needs for its work. */
export type Check = () => Promise<{ ready: boolean; details: Readonly<Record<string, unknown>> }>;

/** Says whether a process can do its work: Redis takes what it writes, and whatever else its roles need. */
export function healthOf(foundation: Foundation, ...checks: readonly Check[]): Required<Health> {
  const { redis, metrics } = foundation;
  return {
    async ready() {
      const state = await writability(redis);
      if (state !== 'writable') return { ready: false, details: { redis: state } };
      const [faults, ...checked] = await Promise.all([redisFaults(redis), ...checks.map((check) => check())]);
      const warnings = faults.map(({ setting, problem }) => `${setting} ${problem}`);
      const said = [{ redis: 'reachable', redis_warnings: warnings }, ...checked.map(({ details }) => details)];
      return {
        ready: checked.every(({ ready }) => ready),
        details: Object.fromEntries(said.flatMap((details) => Object.entries(details))),
      };
    },
    metrics: () => metrics.text(),
  };
}

/** What a listener that faces the internet shows: whether Redis takes what is written, and nothing of its settings. */
export function publicHealthOf({ redis }: Pick<Foundation, 'redis'>): Pick<Health, 'ready'> {
  return {
    async ready() {
      const state = await writability(redis);
      return { ready: state === 'writable', details: { redis: state === 'writable' ? 'reachable' : state } };
    },
  };
}

/**
 * Whether images can be taken in and sent from here: DATA_DIR is writable, and the one that the others use. Names the alarm
 * about missing records, which makes no process unready.
 */
export function spoolCheck({ spool }: Pick<Foundation, 'spool'>): Check {
  return spoolStateCheck(spool, () => spool.state());
}

/** The same without writing to the disk, as long as heartbeats look. */
export function recentSpoolCheck({ spool }: Pick<Foundation, 'spool'>): Check {
  return spoolStateCheck(spool, () => spool.recentState());
}

function spoolStateCheck(spool: Foundation['spool'], read: () => Promise<SpoolState>): Check {
  return async () => {
    const state = await read();
    const alarm = await spool.alarm();
    const details = alarm && {
      spool_alarm: 'records_missing',
      spool_alarm_since: new Date(alarm.sinceMs).toISOString(),
    };
    return { ready: state === 'shared', details: { spool: state, ...details } };
  };
}
