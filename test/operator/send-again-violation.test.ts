import { taskView } from '../../src/contracts/operator';
import { page } from '../../src/contracts/paging';
import { useApp } from '../support/app';
import { api, audited, errorOf, newKey } from './client';
import { acceptWithDrift, finishViolation, newViolation, violationOf } from './world';

const app = useApp({ role: 'console' });

describe('operator API: a violation that was accepted with a broken answer', () => {
  const retry = (id: string, apiKey = app.apiKey) => api(app, apiKey).post(`/api/violations/${id}/retry`).send({});
  const drifted = async () => {
    const id = await newViolation(app);
    await acceptWithDrift(app, id);
    return id;
  };
  const taskTypes = async () =>
    page(taskView)
      .parse((await api(app).get('/api/tasks')).body)
      .items.map(({ type }) => type);

  it('is sent again after a retry, and once more after a new broken answer; one task asks about such answers', async () => {
    const id = await drifted();
    expect(await taskTypes()).toEqual(['answer_differs']);

    await retry(id).expect(202);
    expect(await violationOf(app, id)).toMatchObject({
      state: 'pending',
      accepted_how: null,
      accepted_at: null,
      difference_id: null,
    });

    await acceptWithDrift(app, id);
    expect(await violationOf(app, id)).toMatchObject({ state: 'accepted', attempts: 2, accepted_how: 'answered' });
    expect((await violationOf(app, id)).difference_id).not.toBeNull();
    expect(await taskTypes()).toEqual(['answer_differs']);
  });

  it('takes no other decision, and none once such answers are expected', async () => {
    const id = await drifted();
    const correct = await api(app).post(`/api/violations/${id}/correct`).send({ location: 'x' });
    expect([correct.status, errorOf(correct).code]).toEqual([409, 'violation_settled']);
    const kind = encodeURIComponent((await violationOf(app, id)).difference_id ?? '');
    await api(app).post(`/api/differences/${kind}/expect`).send({}).expect(202);
    await finishViolation(app, id);

    expect(errorOf(await retry(id).expect(409)).code).toBe('violation_settled');
    expect((await violationOf(app, id)).state).toBe('accepted');
  });

  it('is sent again once per Idempotency-Key, by a dispatcher and by no weaker role', async () => {
    const id = await drifted();
    for (const role of ['viewer', 'crew'] as const) {
      expect(errorOf(await retry(id, await newKey(app, role)).expect(403)).code).toBe('role_not_allowed');
    }
    const apiKey = await newKey(app, 'dispatcher', 'night desk');
    await retry(id, apiKey).set('idempotency-key', 'once').expect(202);
    await acceptWithDrift(app, id);
    await retry(id, apiKey).set('idempotency-key', 'once').expect(202);

    expect((await violationOf(app, id)).state).toBe('accepted');
    const { items } = await audited(app);
    expect(items.filter(({ action }) => action === 'violation.retried')).toMatchObject([{ by: 'night desk' }]);
  });
});
