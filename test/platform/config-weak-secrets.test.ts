import { inspect } from 'node:util';
import { errorOf } from './config-errors';

const PRODUCTION = { NODE_ENV: 'production' };
const HEADER = { WEBHOOK_SHARED_SECRET_HEADER: 'x-hook' };
const signing = (bytes: number) => `whsec_${Buffer.alloc(bytes, '5521').toString('base64')}`;

const CHARACTERS = 'must have at least 24 characters when NODE_ENV is production';
const BYTES = 'must hold secrets of at least 24 bytes (32 characters after whsec_) when NODE_ENV is production';

/** Each secret one character or byte too short, and just long enough. */
const LENGTHS: [variable: string, weak: string, strong: string, rule: string][] = [
  ['BOOTSTRAP_API_KEY', '5521'.padEnd(23, 'x'), '5521'.padEnd(24, 'x'), CHARACTERS],
  ['WEBHOOK_SHARED_SECRET', '5521'.padEnd(23, 'x'), '5521'.padEnd(24, 'x'), CHARACTERS],
  [
    'WEBHOOK_SHARED_SECRET',
    `${'5521'.padEnd(24, 'x')},5521`,
    `${'5521'.padEnd(24, 'x')},${'x'.repeat(24)}`,
    CHARACTERS,
  ],
  ['WEBHOOK_SECRETS', `${signing(24)},${signing(1)}`, `${signing(24)}, ${signing(64)}`, BYTES],
  ['WEBHOOK_SECRETS_TOW_REQUEST', signing(23), signing(24), BYTES],
  ['WEBHOOK_SECRETS_TOW_INVOICE', signing(1), signing(24), BYTES],
];

test.each(LENGTHS)(
  'in production a short %s is refused with its rule and without its value',
  (variable, weak, strong, rule) => {
    const pair = variable === 'WEBHOOK_SHARED_SECRET' ? HEADER : {};
    const error = errorOf({ ...PRODUCTION, ...pair, [variable]: weak });

    expect(error?.faults).toEqual([{ variable, rule }]);
    expect(inspect(error, { depth: null })).not.toContain(weak);
    expect(errorOf({ ...PRODUCTION, ...pair, [variable]: strong })).toBeNull();
  },
);

test.each(LENGTHS)('in development a short %s is allowed', (variable, weak) => {
  const pair = variable === 'WEBHOOK_SHARED_SECRET' ? HEADER : {};
  expect(errorOf({ ...pair, [variable]: weak })).toBeNull();
});

test('in production short secrets are reported together with other faults, and each variable once', () => {
  const error = errorOf({
    ...PRODUCTION,
    BOOTSTRAP_API_KEY: 'short',
    WEBHOOK_SECRETS: 'whsec_5521!',
    WEBHOOK_SECRETS_TOW_REQUEST: signing(4),
    RETRY_CAP_MS: '0',
  });

  expect(error?.faults.map(({ variable }) => variable).toSorted()).toEqual([
    'BOOTSTRAP_API_KEY',
    'RETRY_CAP_MS',
    'WEBHOOK_SECRETS',
    'WEBHOOK_SECRETS_TOW_REQUEST',
  ]);
});
