import { linesOf } from '../support/captured-log';
import { useOwnRedis } from '../support/redis';
import { api, newKey, towIn, towPath } from './client';
import { answerHead, newTow, towAfter, WHEREABOUTS } from './world';

const redis = useOwnRedis();

const PLATE = 'PLATE QZWX';

it('logs API requests by route and reference, and no plate, place or API key', async () => {
  const secrets: string[] = [];
  let ref = '';
  const lines = await linesOf({ redisUrl: redis.url, role: 'console' }, async (app) => {
    secrets.push(app.apiKey, await newKey(app, 'ops'));
    ref = await newTow(app);
    towIn(
      await api(app)
        .post(towPath(ref, '/started'))
        .send({ ...WHEREABOUTS, plate_number: PLATE }),
    );
    await api(app).get(`/api/tows?q=${encodeURIComponent(PLATE)}`);
    await api(app, 'thk_wrong-7777').get('/api/tows');
    await api(app).get(`/nowhere/${encodeURIComponent(PLATE)}`);
    await api(app)
      .post(towPath(ref, '/started'))
      .send({ plate_number: `${PLATE} ${'x'.repeat(99)}`, latitude: 'x' });
    await api(app).post(towPath(ref, '/started')).type('application/json').send(`{"plate_number": "${PLATE}"`);
    const refused = await towAfter(app, 'started');
    await api(app)
      .post(towPath(refused, `/reports/${await answerHead(app, refused, 'refused')}/correct`))
      .send({
        plate_number: PLATE,
      });
  });
  const text = lines.join('\n');
  expect(text).toContain('/api/tows/:towing_reference_id/started');
  expect(text).toContain(ref);
  for (const word of ['QZWX', 'PLATE', 'King Fahd', ...secrets]) expect(text).not.toContain(word);
});

it('logs an internal failure without the content of the request', async () => {
  const lines = await linesOf({ redisUrl: redis.url, role: 'console' }, async (app) => {
    const ref = await newTow(app);
    await redis.ask('CONFIG', 'SET', 'maxmemory', '100kb');
    try {
      await api(app)
        .post(towPath(ref, '/started'))
        .send({ ...WHEREABOUTS, plate_number: PLATE })
        .expect(503);
    } finally {
      await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
    }
  });
  const text = lines.join('\n');
  expect(text).toContain('"api.failed"');
  for (const word of ['QZWX', 'PLATE', 'King Fahd']) expect(text).not.toContain(word);
});
