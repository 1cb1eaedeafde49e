import { metadataText } from '../../src/contracts/violation/violation-metadata';
import { systemClock } from '../../src/platform/clock';
import { privateAccess } from '../../src/store/redis/access';
import { newViolation, reportViolation } from '../../src/workflow/violation/report-violation';
import type { RecordStore, IdempotencyRecord } from '../../src/workflow/transaction-port';
import { PNG } from '../support/images';
import { openStores, TESTER, useStores } from '../support/stores';
import { newFolder, openSpool, pieces } from '../spool/world';
import { VIOLATION_FORM } from './world';

const stores = useStores();
const redis = stores.server;

/** Reports a violation; returns the effect, or the error, and whether its image is kept. */
async function report(
  how: { id?: string; records?: RecordStore; idempotency?: IdempotencyRecord } = {},
): Promise<{ effect: string; isThere: boolean; isStored: boolean }> {
  const spool = openSpool(await newFolder());
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  const images = [{ ...stored, name: 'a.png', contentType: 'image/png' }];
  const form = { ...VIOLATION_FORM, metadata: metadataText.parse(JSON.stringify({ id: how.id ?? 'own' })) };
  const violation = newViolation({ form, images, actor: TESTER }, { api: 'reference', clock: systemClock });
  const request = { violation, upload, actor: TESTER, idempotency: how.idempotency };
  const tools = { records: how.records ?? stores.records } as const;
  const effect = await reportViolation(tools, request).then(
    ({ kind }) => kind,
    (error: unknown) => String(error),
  );
  await upload.discard();
  const path = await spool.pathOf({ kind: 'violation', id: violation.id }, stored);
  return { effect, isThere: path !== null, isStored: (await stores.violations.read(violation.id)) !== null };
}

it('keeps the images of a violation while it is unknown whether the violation was stored', async () => {
  const transact = () => Promise.reject(new Error('no answer from Redis'));
  const records: RecordStore = { transact, isUnwritten: (error) => stores.records.isUnwritten(error) };
  expect(await report({ records })).toEqual({
    effect: 'Error: no answer from Redis',
    isThere: true,
    isStored: false,
  });
});

it('keeps the images of a stored violation that too few replicas have confirmed', async () => {
  const replicated = await openStores({ ...privateAccess(redis.url, null), minReplicas: 1 });
  try {
    expect(await report({ records: replicated.records })).toEqual({
      effect: 'NotReplicated: 0 of 1 replicas (REDIS_MIN_REPLICAS) have confirmed the write in time',
      isThere: true,
      isStored: true,
    });
  } finally {
    replicated.close();
  }
});

it('keeps the images of a stored violation whose commit failed among others that were written', async () => {
  const failure = "OOM command not allowed when used memory > 'maxmemory'.";
  const run = stores.redis.evalsha.bind(stores.redis);
  jest.spyOn(stores.redis, 'evalsha').mockImplementation(async (...call) => {
    const replies: unknown = await run(...call);
    if (!Array.isArray(replies)) return replies;
    return replies.map((reply: unknown) => (reply === 'done' ? `error ${failure}` : reply));
  });
  expect(await report()).toEqual({ effect: `Error: ${failure}`, isThere: true, isStored: true });
});

it('removes the images of a violation that was not stored', async () => {
  const idempotency = { scope: 'POST /api/violations', fingerprint: 'f' };
  await report({ id: 'taken', idempotency });
  expect(await report({ id: 'taken' })).toEqual({ effect: 'refused', isThere: false, isStored: false });
  expect(await report({ id: 'other', idempotency })).toEqual({ effect: 'repeated', isThere: false, isStored: false });
});

it('keeps the images of a stored violation in place for sending', async () => {
  expect(await report()).toEqual({ effect: 'done', isThere: true, isStored: true });
});
