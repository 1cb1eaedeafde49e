import { knownViolation } from '../../src/contracts/violation/known-violations';
import { violationInput } from '../../src/contracts/violation/violation-input';
import { REQUIRED } from '../operator/forms';

const PLACE = { plateNumber: 'ABJ 1235', location: 'Gate 4', latitude: 24.7, longitude: 46.7 };

test.each([
  ['with spaces around it', ' case-1 '],
  ['with a line break', 'case\n1'],
  ['of 201 characters', 'x'.repeat(201)],
  ['of dots', '..'],
  ['that is empty', ''],
  ['that is blank', ' '],
  ['of 20,000 characters', 'x'.repeat(20_000)],
  ['with half of a character', 'case-\ud800'],
])('a known violation takes or refuses a metadata id %s as the form of a violation does', (_what, id) => {
  const known = knownViolation.safeParse({ ...PLACE, metadata_id: id });
  const form = violationInput.safeParse({ ...REQUIRED, metadata: JSON.stringify({ id }) });
  const isRefused = id.trim() === '' || id.length > 16_384 || !id.isWellFormed();
  expect([known.success, form.success]).toEqual([!isRefused, !isRefused]);
  const taken = isRefused ? undefined : id;
  expect([known.data?.metadata_id, form.data?.metadata?.value['id']]).toEqual([taken, taken]);
});
