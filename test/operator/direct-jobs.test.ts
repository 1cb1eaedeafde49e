import { onNudges } from '../../src/store/notifications';
import { useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { towAfter } from './world';

const app = useApp({ role: 'console' });

const waiting = () => app.foundation.queues.byName.reports.getWaitingCount();

it('adds no job for a fact while there is no worker', async () => {
  await towAfter(app, 'started');
  await towAfter(app, 'started');
  await towAfter(app, 'started');

  expect(await waiting()).toBe(0);
});

it('adds the job of a tow whose report is owed while there is a worker, without its scheduler', async () => {
  // To the console, a worker is a scheduler that listens. This one never polls.
  await onNudges(app.foundation.patient(), () => {});

  await eventually(async () => {
    await towAfter(app, 'started');
    expect(await waiting()).toBeGreaterThan(0);
  });

  const [job] = await app.foundation.queues.byName.reports.getJobs('waiting');
  expect(job?.data).toEqual({ towing_reference_id: expect.any(String) as unknown });
});
