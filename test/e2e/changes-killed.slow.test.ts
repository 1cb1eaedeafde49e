import { useOwnRedis } from '../support/redis';
import { followUnderKills } from './changes-killed';

jest.setTimeout(420_000);
const redis = useOwnRedis();

test('readers and receivers of all changes miss none and get them in order, while workers, a console and Redis are killed', async () => {
  await followUnderKills(redis, { killedForMs: 15_000, awayForMs: 5000, tows: 25, giveUpMs: 72_000 });
});
