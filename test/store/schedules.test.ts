import { createSchedules } from '../../src/store/outbox/schedules';
import { useStores } from '../support/stores';

const stores = useStores();

/** Adds a member that is due now, with the time rounded up as commits do, and returns its score. */
const MAKE_DUE_NOW = `
  local time = redis.call('TIME')
  local now = time[1] * 1000 + math.ceil(time[2] / 1000)
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  return now`;

test('a poll that follows at once finds what has been made due now', async () => {
  const { runs } = createSchedules(stores.redis);
  for (let nth = 0; nth < 200; nth += 1) {
    await stores.redis.eval(MAKE_DUE_NOW, 1, '{towhook-main}:due:runs', `b${nth}`);
    expect(await runs.pollDue(10, 60_000)).toEqual([`b${nth}`]);
  }
});
