import { KEYS } from '../../src/store/keys';
import { useApp } from '../support/app';
import { towAfter } from './world';

const app = useApp({ role: 'console' });

it('hands the tow of a fact to a worker and adds no job', async () => {
  const ref = await towAfter(app, 'started');

  expect(await app.foundation.redis.lrange(KEYS.immediateTows, 0, -1)).toEqual([ref]);
  expect(await app.foundation.queues.byName.reports.getWaitingCount()).toBe(0);
});
