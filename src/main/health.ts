import type { Health } from '../platform/http';
import { writability } from '../store/connect';
import { redisFaults } from '../store/settings';
import type { Foundation } from './foundation';

/** Says whether a process can do its work: Redis takes what it writes, and whatever else its roles need. */
export function healthOf(
  foundation: Foundation,
  also: () => Promise<{ ready: boolean; details: Readonly<Record<string, unknown>> }> = nothingElse,
): Required<Health> {
  const { redis, metrics } = foundation;
  return {
    async ready() {
      const state = await writability(redis);
      if (state !== 'writable') return { ready: false, details: { redis: state } };
      const [faults, more] = await Promise.all([redisFaults(redis), also()]);
      const warnings = faults.map(({ setting, problem }) => `${setting} ${problem}`);
      return { ready: more.ready, details: { redis: 'reachable', redis_warnings: warnings, ...more.details } };
    },
    metrics: () => metrics.text(),
  };
}

function nothingElse() {
  return Promise.resolve({ ready: true, details: {} });
}
