import { messagesIn, ruleText } from '../../src/console/messages';
import { violationInput } from '../../src/contracts/violation/violation-input';
import { failedRules } from '../../src/contracts/rules';
import { formatWarnings } from '../../src/domain/format-warnings';
import { FACT_CONTRACTS } from '../../src/contracts/tow/facts';
import { readSources } from '../architecture/sources';
import { COMPLETE, REQUIRED } from '../operator/forms';

const arabic = messagesIn('ar');
const NOW_MS = Date.UTC(2026, 2, 10);

test('translates every warning about a violation into Arabic', () => {
  const form = { ...violationInput.parse(REQUIRED), metadata: {} };
  const forms = [
    { ...form, date: '2027-01-01T00:00:00', plateNumber: 'QQ', isSaudi: true, identityNumber: '1', mobileNumber: '1' },
    { ...form, isSaudi: false, identityNumber: '1000000000', supervisorIdentityNumber: 'x' },
  ];
  const warnings = forms.flatMap((each) => formatWarnings(each, { api: 'guide', images: 1, nowMs: NOW_MS }));
  expect(new Set(warnings.map(({ rule }) => rule)).size).toBe(9);
  for (const { rule } of warnings)
    expect([rule, ruleText(arabic, rule)]).toEqual([rule, expect.stringMatching(/[\u0600-\u06ff]/)]);
});

test.each([
  'must be a non-empty string',
  'is required (string)',
  'must be a number or a numeric string',
  'must be a finite number',
  'is nested too deeply',
  'has no envelope',
  'is empty',
  'is a number, not text',
  'is missing',
  'begins with a byte order mark',
  'is text that contains JSON',
  'is an amount with separators or other digits',
])('translates into Arabic the rule of a difference: %s', (rule) => {
  expect(ruleText(arabic, rule)).toMatch(/[\u0600-\u06ff]/);
});

test.each([
  ['no fields', {}],
  [
    'values of the wrong type',
    { ...COMPLETE, plateType: 'x', violationType: 'x', isSaudi: 'perhaps', date: 'x', zoneId: 'x' },
  ],
  ['text in numeric fields', { ...REQUIRED, latitude: 'x', longitude: '200' }],
  ['a latitude below the minimum', { ...REQUIRED, latitude: '-91' }],
  ['texts over the maximum length', { ...REQUIRED, plateNumber: 'x'.repeat(60), location: 'x'.repeat(2000) }],
  ['control characters', { ...REQUIRED, plateNumber: 'a\u0007', location: 'a\u0007' }],
  ['metadata that is not JSON', { ...REQUIRED, metadata: '{' }],
  ['metadata that is not an object', { ...REQUIRED, metadata: '[]' }],
  ['a metadata id that is not a string', { ...REQUIRED, metadata: '{"id":7}' }],
  ['two metadata ids', { ...REQUIRED, metadata: '{"id":"a","id":"b"}' }],
])('translates into Arabic every rule that a violation form fails with %s', (_what, fields) => {
  const { error } = violationInput.safeParse(fields);
  const rules = error ? failedRules(error).map(({ rule }) => rule) : [];
  expect(rules).not.toEqual([]);
  const untranslated = rules.filter((rule) => ruleText(arabic, rule) === null);
  expect(untranslated).toEqual([]);
});

/** Values that break every rule of a contract of a text or number. */
const BROKEN = [undefined, null, 7, 1.5, -1, 1e9, '', ' ', 'a\u0007', '\ud800', 'x'.repeat(5000), [], {}, true];

test.each(Object.entries(FACT_CONTRACTS))(
  'translates into Arabic every rule of the fields of the fact %s',
  (_event, { body }) => {
    const rules = Object.keys(body.shape).flatMap((field) =>
      BROKEN.flatMap((value) => {
        const { error } = body.safeParse({ [field]: value });
        return error ? failedRules(error).flatMap((failed) => (failed.field === field ? [failed.rule] : [])) : [];
      }),
    );
    expect(rules).not.toEqual([]);
    expect([...new Set(rules)].filter((rule) => ruleText(arabic, rule) === null)).toEqual([]);
  },
);

test('translates into Arabic every rule that the contracts of facts name', () => {
  const rules = readSources(
    ['src/contracts', 'src/domain'],
    ['common.ts', 'input-schemas.ts', 'fact-fields.ts'],
  ).flatMap(({ text }) =>
    [...text.matchAll(/(['`])(must .+?)\1/g)].map(([, , rule = '']) => rule.replaceAll(/\$\{[^}]+\}/g, '5')),
  );
  expect(rules.length).toBeGreaterThan(5);
  expect(rules.filter((rule) => ruleText(arabic, rule) === null)).toEqual([]);
});

test('isolates the patterns of a mobile number from the direction of the Arabic text', () => {
  const rule = 'does not look like 05######## or +9665########';
  expect(ruleText(arabic, rule)).toMatch(/\u206605########\u2069.*\u2066\+9665########\u2069/);
});

test.each(['needs at least one of vehicle_type, delay_in_days', 'has nothing to correct'])(
  'translates into Arabic the rule of a correction without changes: %s',
  (rule) => {
    expect(ruleText(arabic, rule)).toMatch(/[\u0600-\u06ff]/);
  },
);

test('translates into Arabic every rule that the contracts, the domain and the use cases name', () => {
  const rules = readSources(['src/contracts', 'src/domain', 'src/workflow'], ['.ts']).flatMap(({ text }) =>
    [...text.matchAll(/\brule: (['`])(.+?)\1/g)].map(([, , rule = '']) => rule.replaceAll(/\$\{[^}]+\}/g, '5')),
  );
  expect(rules.length).toBeGreaterThan(10);
  expect(rules.filter((rule) => ruleText(arabic, rule) === null)).toEqual([]);
});
