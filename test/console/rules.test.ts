import { ruleInArabic } from '../../src/console/words/rules';
import { violationInput } from '../../src/contracts/violation-input';
import { failedRules } from '../../src/contracts/rules';
import { formatWarnings } from '../../src/domain/format-warnings';
import { COMPLETE, REQUIRED } from '../operator/forms';

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
    expect([rule, ruleInArabic(rule)]).toEqual([rule, expect.stringMatching(/[\u0600-\u06ff]/)]);
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
  const untranslated = rules.filter(
    (rule) => ruleInArabic(rule) === null && !['must not be empty', 'must be a number'].includes(rule),
  );
  expect(untranslated).toEqual([]);
});
