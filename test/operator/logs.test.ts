import { linesOf } from '../support/captured-log';
import { useRedis } from '../support/redis';
import { call, get, newKey, post, towIn, towPath } from './client';
import { answerHead, newTow, towAfter, WHEREABOUTS } from './world';

const redis = useRedis();

const PLATE = 'PLATE QZWX';

it('what people do is logged by route and reference: no plate, no place, no key', async () => {
  const secrets: string[] = [];
  let ref = '';
  const lines = await linesOf({ redisUrl: redis.url, role: 'console' }, async (app) => {
    secrets.push(app.apiKey, await newKey(app, 'ops'));
    ref = await newTow(app);
    towIn(await post(app, towPath(ref, '/started'), { ...WHEREABOUTS, plate_number: PLATE }));
    await get(app, `/api/tows?q=${encodeURIComponent(PLATE)}`);
    await get(app, '/api/tows', { apiKey: 'thk_wrong-7777' });
    await get(app, `/nowhere/${encodeURIComponent(PLATE)}`);
    await post(app, towPath(ref, '/started'), { plate_number: `${PLATE} ${'x'.repeat(99)}`, latitude: 'x' });
    await call(app, ['POST', towPath(ref, '/started'), `{"plate_number": "${PLATE}"`]);
    const refused = await towAfter(app, 'started');
    await post(app, towPath(refused, `/reports/${await answerHead(app, refused, 'refused')}/correct`), {
      plate_number: PLATE,
    });
  });
  const text = lines.join('\n');
  expect(text).toContain('/api/tows/:towing_reference_id/started');
  expect(text).toContain(ref);
  for (const word of ['QZWX', 'PLATE', 'King Fahd', ...secrets]) expect(text).not.toContain(word);
});

it('what fails inside is logged without what was asked', async () => {
  const lines = await linesOf({ redisUrl: redis.url, role: 'console' }, async (app) => {
    const ref = await newTow(app);
    await redis.ask('CONFIG', 'SET', 'maxmemory', '100kb');
    try {
      expect((await post(app, towPath(ref, '/started'), { ...WHEREABOUTS, plate_number: PLATE })).status).toBe(503);
    } finally {
      await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    }
  });
  const text = lines.join('\n');
  expect(text).toContain('"api.failed"');
  for (const word of ['QZWX', 'PLATE', 'King Fahd']) expect(text).not.toContain(word);
});
