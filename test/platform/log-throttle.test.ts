import { systemClock } from '../../src/platform/clock';
import { throttledLog } from '../../src/platform/log/log-throttle';
import { recordedLog } from '../support/recorded-log';

const QUIET_MS = 10_000;

function throttled(by: readonly string[] = []) {
  let nowMs = 0;
  const { log, lines } = recordedLog();
  const clock = { ...systemClock, monotonicMs: () => nowMs };
  return {
    log: throttledLog(log, { clock, by }),
    lines,
    forward: (ms: number) => {
      nowMs += ms;
    },
  };
}

test('a throttled log writes a repeated event once in ten seconds with the number of suppressed lines', () => {
  const { log, lines, forward } = throttled();
  for (let at = 0; at < 2 * QUIET_MS; at += 10) {
    log.error('redis.failed', { at });
    forward(10);
  }
  log.error('redis.failed', { at: 'end' });

  expect(lines).toEqual([
    { level: 'error', event: 'redis.failed', at: 0 },
    { level: 'error', event: 'redis.failed', at: QUIET_MS, suppressed: 999 },
    { level: 'error', event: 'redis.failed', at: 'end', suppressed: 999 },
  ]);
});

test('a throttled log writes a single line unchanged', () => {
  const { log, lines, forward } = throttled();
  log.warn('scheduler.failed', { queue: 'reports' });
  forward(QUIET_MS);
  log.warn('scheduler.failed', { queue: 'reports' });

  expect(lines).toEqual([
    { level: 'warn', event: 'scheduler.failed', queue: 'reports' },
    { level: 'warn', event: 'scheduler.failed', queue: 'reports' },
  ]);
});

test('a throttled log throttles each event by its distinguishing fields', () => {
  const { log, lines } = throttled(['queue']);
  log.error('worker.failed', { queue: 'reports', job_id: '1' });
  log.error('worker.failed', { queue: 'reports', job_id: '2' });
  log.error('worker.failed', { queue: 'deliveries', job_id: '3' });
  log.error('redis.failed');

  expect(lines.map(({ event, job_id: id }) => [event, id])).toEqual([
    ['worker.failed', '1'],
    ['worker.failed', '3'],
    ['redis.failed', undefined],
  ]);
});

test('throttled child logs share the count of their parent log', () => {
  const { log, lines, forward } = throttled(['queue']);
  log.with({ part: 'a' }).error('redis.failed');
  log.with({ part: 'b' }).error('redis.failed');
  log.with({ queue: 'reports' }).error('redis.failed');
  forward(QUIET_MS);
  log.error('redis.failed');

  expect(lines).toEqual([
    { level: 'error', event: 'redis.failed', part: 'a' },
    { level: 'error', event: 'redis.failed', queue: 'reports' },
    { level: 'error', event: 'redis.failed', suppressed: 1 },
  ]);
});

test('a throttled log writes at most 101 lines of one event in ten seconds, however its fields vary', () => {
  const { log, lines, forward } = throttled(['source']);
  for (let at = 0; at < 1000; at += 1) log.warn('delivery.answered', { source: `10.0.0.${at}` });
  expect(lines).toHaveLength(101);

  forward(QUIET_MS);
  log.warn('delivery.answered', { source: 'later' });
  expect(lines.at(-1)).toEqual({ level: 'warn', event: 'delivery.answered', source: 'later' });
});
