import type { ProcessStatus } from '../../src/workflow/ops/metrics-port';
import { processStateOf } from '../../src/workflow/ops/metrics-port';

function process(status: Partial<ProcessStatus>): ProcessStatus {
  return {
    id: 'p1',
    role: 'worker',
    mode: 'live',
    hostName: 'a-host',
    processId: 17,
    version: '1.2.3',
    schema: 1,
    nodeVersion: 'v20.0.0',
    startedAtMs: 1000,
    beatAtMs: 5000,
    beatAgeMs: 0,
    isSilent: false,
    isReady: true,
    problems: [],
    missingDataKeys: [],
    service: null,
    clockOffsetSeconds: 0,
    queues: [],
    ...status,
  };
}

test.each([
  ['ready', {}],
  ['not_ready', { isReady: false, problems: ['spool'] }],
  ['silent', { isSilent: true }],
] as const)('a process is %s with %j', (state, status) => {
  const one = process(status);
  expect(processStateOf(one, [one])).toBe(state);
});

test('a silent process counts no longer once a process of its role has started after it', () => {
  const silent = process({ isSilent: true, beatAtMs: 5000 });
  const stateBeside = (other: Partial<ProcessStatus>) => processStateOf(silent, [silent, process(other)]);

  expect(stateBeside({ startedAtMs: 6000 })).toBeNull();
  expect(stateBeside({ startedAtMs: 4000 })).toBe('silent');
  expect(stateBeside({ startedAtMs: 6000, role: 'receiver' })).toBe('silent');
});
