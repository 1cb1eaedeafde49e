import { decideTasks } from '../../jobs/decide-tasks';
import { openBulk, openBulkTools } from '../../src/main/bulk';
import { createDifferenceStore } from '../../src/store/differences';
import type { Actor } from '../../src/domain/audit';
import { BOOTSTRAP } from '../../src/operator';
import { api, towOf, towPath } from '../operator/client';
import { answerHead, claimHead, outboxOf, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { ACCEPTED, result } from '../support/stores';

/** Sending all reports of a kind of difference again: a bulk run over reports that no task names. */

const app = useApp({ role: 'console' });
const PERSON: Actor = { id: BOOTSTRAP, name: 'ops', role: 'ops' };

async function accepted(outcome: 'drift' | 'accepted'): Promise<string> {
  const ref = await towAfter(app, 'started');
  await answerHead(app, ref, outcome);
  return ref;
}
const stateOf = async (ref: string) => (await towOf(app, ref)).reports[0]?.state;
const run = (id: string) => decideTasks({ bulk_id: id }, openBulkTools(app.foundation));

test('all reports of a kind are sent again once, except one that a person sent again after the preview', async () => {
  const refs = [await accepted('drift'), await accepted('drift'), await accepted('drift')];
  const other = await accepted('accepted');
  const [kind] = await createDifferenceStore(app.foundation.redis).all();
  const bulk = openBulk(app.foundation);
  const preview = await bulk.preview({ action: 'retry', difference_id: kind?.id }, PERSON);
  if (!preview.ok) throw new Error(preview.refusal.code);
  const { id, items, counts } = preview.run;
  expect(items.map(({ towingReferenceId }) => towingReferenceId)).toEqual(refs);
  expect(counts).toMatchObject({ waiting: 3 });
  expect(await Promise.all(refs.map(stateOf))).toEqual(['accepted', 'accepted', 'accepted']);

  const [first = '', ...rest] = refs;
  await api(app).post(towPath(first, '/reports/started-1/retry')).send({}).expect(202);
  expect(await bulk.start(id, PERSON)).toMatchObject({ ok: true });
  await run(id);
  await run(id);

  const ended = await bulk.read(id);
  expect(ended).toMatchObject({ state: 'done', counts: { done: 2, gone: 1 } });
  expect(await Promise.all(rest.map(stateOf))).toEqual(['pending', 'pending']);
  expect(await stateOf(other)).toBe('accepted');
  expect(await createDifferenceStore(app.foundation.redis).waiting(kind?.id ?? '')).toBe(0);
});

test('a report of a tow that is being sent to right now is sent again once that call has ended', async () => {
  const ref = await accepted('drift');
  await api(app).post(towPath(ref, '/detained')).send({}).expect(202);
  const [kind] = await createDifferenceStore(app.foundation.redis).all();
  const bulk = openBulk(app.foundation);
  const preview = await bulk.preview({ action: 'retry', difference_id: kind?.id }, PERSON);
  if (!preview.ok) throw new Error(preview.refusal.code);
  const { id } = preview.run;
  const detained = await claimHead(app, ref);
  await bulk.start(id, PERSON);

  await run(id);
  expect(await bulk.read(id)).toMatchObject({ state: 'running', counts: { waiting: 1 } });

  await outboxOf(app.foundation).settle(detained, result(ACCEPTED));
  await eventually(async () => {
    await run(id);
    expect(await bulk.read(id)).toMatchObject({ state: 'done', counts: { done: 1 } });
  });
});

test('a kind without reports, another decision and a second choice are refused', async () => {
  const bulk = openBulk(app.foundation);
  const refusalOf = async (asked: object) => {
    const preview = await bulk.preview(asked, PERSON);
    return preview.ok ? null : preview.refusal.code;
  };
  const difference_id = 'answer.started.0000';
  expect(await refusalOf({ action: 'retry', difference_id })).toBe('nothing_found');
  expect(await refusalOf({ action: 'retry', difference_id, task_ids: ['a'] })).toBe('two_choices');
  expect(await refusalOf({ action: 'waive', difference_id, reason: 'a test' })).toBe('field_invalid');
});
