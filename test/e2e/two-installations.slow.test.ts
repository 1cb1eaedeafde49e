import { Redis } from 'ioredis';
import { playTows } from '../../src/demo/play';
import { readMetricsText } from '../support/metrics-text';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';

jest.setTimeout(240_000);
const redis = useRedis();
const NAMES = ['north', 'south'] as const;
const TOWS = 100;
const tagOf = (text: string) => text.replace(/:.*/, '');

test('two installations on one Redis share no key, channel, metric or log line', async () => {
  const client = new Redis(redis.url);
  const listener = new Redis(redis.url);
  const channels = new Set<string>();
  listener.on('pmessage', (_pattern, channel: string) => channels.add(tagOf(channel)));
  await listener.psubscribe('*');
  try {
    // Both simulators give the same references.
    const towns = await Promise.all(
      NAMES.map(async (name) => {
        const town = await buildTown(redis.url);
        return { name, town, all: await town.start('all', { INSTALLATION: name }) };
      }),
    );
    const results = await Promise.all(
      towns.map(async ({ town, all }) =>
        playTows(await town.addressesOf(all), { tows: TOWS, faults: [], paceMs: 10, timeLimitMs: 200_000 }),
      ),
    );

    for (const { findings, finished } of results) {
      expect(finished).toBe(TOWS);
      expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
    }
    const tags = NAMES.map((name) => `{towhook-${name}}`);
    expect([...new Set((await client.keys('*')).map(tagOf))].toSorted()).toEqual(tags);
    // What happens is in their streams; nothing is published.
    expect([...channels]).toEqual([]);
    for (const { name, all } of towns) {
      expect(await client.zcard(`{towhook-${name}}:index:tows`)).toBe(TOWS);
      const changes = await client.xrange(`{towhook-${name}}:changes`, '-', '+');
      expect(changes.filter(([, fields]) => fields.join().includes('"tow.requested"'))).toHaveLength(TOWS);
      const samples = await metricsOf(await all.url('console'));
      expect(new Set(samples.map(({ installation }) => installation))).toEqual(new Set([name]));
      const requests = samples.find(
        (sample) => sample.name === 'towhook_deliveries_accepted_total' && sample.labels['kind'] === 'tow_request',
      );
      expect(requests?.value).toBe(TOWS);
      expect(new Set(all.log.map((line) => line['installation']))).toEqual(new Set([name]));
    }
  } finally {
    client.disconnect();
    listener.disconnect();
  }
});

async function metricsOf(consoleUrl: string) {
  const answer = await fetch(`${consoleUrl}/metrics`, { headers: { authorization: `Bearer ${API_KEY}` } });
  return readMetricsText(await answer.text()).flatMap(({ samples }) => samples);
}
