import { ConfigurationError, loadConfig } from '../../src/platform/config/config';

/** What is wrong with an environment; nothing when it loads. */
function faultsOf(environment: Record<string, string>): ConfigurationError['faults'] {
  try {
    loadConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
    throw error;
  }
}

describe('numbers', () => {
  test.each([
    'RETRY_BASE_MS',
    'RECEIVER_PORT',
    'NOT_FOUND_RETRIES',
    'STOP_GRACE_MS',
    'REDIS_MIN_REPLICAS',
    'NOTIFY_REMIND_HOURS',
  ])('%s is a whole number in digits', (variable) => {
    const given = (value: string) => ({ REDIS_URL: 'redis://redis.example', [variable]: value });
    for (const value of ['0x1', '0b1', '1e0', '1.0', '+1', 'Infinity', '-Infinity']) {
      expect(faultsOf(given(value))).toEqual([{ variable, rule: 'must be a whole number' }]);
    }
    expect(faultsOf(given('01'))).toEqual([]);
    expect(faultsOf(given(' 1 '))).toEqual([]);
  });

  test.each(['STOP_DELAY_MS', 'STOP_GRACE_MS', 'SIMULATOR_ASSESS_AFTER_MS', 'WORKER_STALLED_MS'])(
    '%s is at most a day, because a timer cannot wait much longer',
    (variable) => {
      for (const value of ['86400001', '3000000000']) {
        expect(faultsOf({ [variable]: value })).toEqual([{ variable, rule: 'must be at most 86400000' }]);
      }
      expect(faultsOf({ [variable]: '86400000' })).toEqual([]);
    },
  );

  test.each(['RETRY_BASE_MS', 'RETRY_CAP_MS', 'NOT_FOUND_RETRY_MS', 'UNKNOWN_GRACE_MS'])(
    '%s is at most an hour, because a longer wait counts as that of a clock that jumped',
    (variable) => {
      expect(faultsOf({ [variable]: '3600001' })).toEqual([{ variable, rule: 'must be at most 3600000' }]);
      expect(faultsOf({ [variable]: '3600000' })).toEqual([]);
    },
  );

  test.each(['KEEP_TOWS_HOURS', 'OVERDUE_STARTED_MINUTES', 'OTEL_TRACES_SAMPLER_ARG'])(
    '%s is a number in digits with at most one decimal point',
    (variable) => {
      for (const value of ['0x1', '0b1', '1e0', '5e-1', '+1', 'Infinity']) {
        expect(faultsOf({ [variable]: value })).toEqual([
          { variable, rule: 'must be a number in digits, such as 0.5' },
        ]);
      }
      expect(faultsOf({ [variable]: '0.5.0' })).toEqual([{ variable, rule: 'must be a number' }]);
      for (const value of ['1', '0.5', '.5', '1.0']) expect(faultsOf({ [variable]: value })).toEqual([]);
    },
  );
});
