import { useOwnRedis } from '../support/redis';
import { followUnderKills } from './changes-killed';

jest.setTimeout(1_800_000);
const redis = useOwnRedis();

test('readers and receivers of 500 tows miss no change in ten minutes of kills', async () => {
  await followUnderKills(redis, { killedForMs: 600_000, awayForMs: 60_000, tows: 500, giveUpMs: 240_000 });
});
