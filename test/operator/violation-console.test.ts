import { startApp } from '../support/app';
import { linesOf } from '../support/captured-log';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { useRedis } from '../support/redis';
import { api } from './client';
import { COMPLETE, report, violationIn } from './forms';

const redis = useRedis();

it('takes a violation for the guide API with VIOLATION_API=guide and warns that its images are not sent', async () => {
  const app = await startApp({ redisUrl: redis.url, role: 'console', environment: { VIOLATION_API: 'guide' } });
  try {
    const violation = violationIn(await report(app, COMPLETE, [{ name: 'a.png', bytes: PNG }]));
    expect(violation.api).toBe('guide');
    expect(violation.warnings.map(({ field }) => field)).toEqual(['images']);
    expect(violation.images).toHaveLength(1);
  } finally {
    await app.stop();
  }
});

const isAnswer = (line: string) => line.includes('api.answered');

it('logs no field value and no file name of a violation form, accepted or refused', async () => {
  const secret = {
    plateNumber: 'QZW 7788',
    fullName: 'Zainab Qureshi',
    identityNumber: '1098765432',
    mobileNumber: '0599988877',
  };
  const lines = await linesOf({ redisUrl: redis.url, role: 'console' }, async (app, linesSoFar) => {
    const files = [{ name: 'zainab-car.png', bytes: PNG }];
    const { id } = violationIn(await report(app, { ...COMPLETE, ...secret }, files));
    expect((await report(app, { ...COMPLETE, ...secret, zoneId: 'x' }, files)).status).toBe(422);
    expect((await report(app, { ...COMPLETE, ...secret }, files)).status).toBe(409);
    await api(app).get(`/api/violations/${id}/images/1`).expect(200);
    await eventually(async () => expect((await linesSoFar()).filter(isAnswer)).toHaveLength(4));
  });
  const text = lines.join('\n');
  for (const value of [...Object.values(secret), 'zainab', 'King Fahd']) expect(text).not.toContain(value);
});
