import { systemClock } from '../../src/platform/clock';
import { newViolation, reportViolation } from '../../src/workflow/report-violation';
import type { ViolationStore } from '../../src/workflow/violation-port';
import { PNG } from '../support/images';
import { newFolder, openSpool, pieces } from '../spool/world';
import { FORM } from './violation-world';

const actor = { id: 'k1', name: 'tester', role: 'dispatcher' } as const;
const wake = { delivery: () => {}, tow: () => {}, violation: () => {} };

/** What becomes of the images when the write of the record ends like this. */
async function imagesAfter(create: ViolationStore['create']) {
  const spool = openSpool(await newFolder());
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  const images = [{ ...stored, name: 'a.png', contentType: 'image/png' }];
  const violation = newViolation({ form: FORM, images, actor }, { api: 'reference', clock: systemClock });
  const request = { violation, upload, actor, remember: undefined };
  const effect = await reportViolation({ violations: { create }, wake }, request).catch(() => 'rejected');
  await upload.discard();
  const path = await spool.pathOf({ kind: 'violation', id: violation.id }, stored);
  return { effect, isThere: path !== null };
}

it('while it is not certain that a violation was stored, its images stay', async () => {
  const outcome = await imagesAfter(() => Promise.reject(new Error('no answer from Redis')));
  expect(outcome).toEqual({ effect: 'rejected', isThere: true });
});

it('images of a violation that surely was not stored go', async () => {
  const taken = await imagesAfter(() => Promise.resolve({ kind: 'alias_taken' }));
  expect(taken).toMatchObject({ effect: { kind: 'refused' }, isThere: false });
  const remembered = await imagesAfter(() => Promise.resolve({ kind: 'remembered', fingerprint: 'f' }));
  expect(remembered).toMatchObject({ effect: { kind: 'remembered' }, isThere: false });
});

it('images of a stored violation are there before anybody can send it', async () => {
  expect(await imagesAfter(() => Promise.resolve({ kind: 'saved' }))).toEqual({
    effect: { kind: 'done' },
    isThere: true,
  });
});
