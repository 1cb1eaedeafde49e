import { systemClock } from '../../src/platform/clock';
import { newViolation, reportViolation } from '../../src/workflow/report-violation';
import type { ViolationStore } from '../../src/workflow/violation-port';
import { PNG } from '../support/images';
import { newFolder, openSpool, pieces } from '../spool/world';
import { FORM } from './violation-world';

const actor = { id: 'k1', name: 'tester', role: 'dispatcher' } as const;
const wake = { delivery: () => {}, tow: () => {}, violation: () => {} };

/** Reports a violation whose write to the store ends like this; returns the effect and whether its image is kept. */
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

it('keeps the images of a violation while it is unknown whether the violation was stored', async () => {
  const outcome = await imagesAfter(() => Promise.reject(new Error('no answer from Redis')));
  expect(outcome).toEqual({ effect: 'rejected', isThere: true });
});

it('removes the images of a violation that was not stored', async () => {
  const taken = await imagesAfter(() => Promise.resolve({ kind: 'alias_taken' }));
  expect(taken).toMatchObject({ effect: { kind: 'refused' }, isThere: false });
  const remembered = await imagesAfter(() => Promise.resolve({ kind: 'remembered', fingerprint: 'f' }));
  expect(remembered).toMatchObject({ effect: { kind: 'remembered' }, isThere: false });
});

it('keeps the images of a stored violation in place for sending', async () => {
  expect(await imagesAfter(() => Promise.resolve({ kind: 'saved' }))).toEqual({
    effect: { kind: 'done', value: null },
    isThere: true,
  });
});
