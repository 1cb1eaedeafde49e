import request from 'supertest';
import { z } from 'zod';
import { messagesIn } from '../../src/console/messages';
import { signedIn, textOf } from '../console/visitor';
import type { App } from '../support/app';
import { eventually } from '../support/eventually';
import { readMetricsText } from '../support/metrics-text';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { useApps } from './apps';

const redis = useRedis();
const { start } = useApps(redis);
const AHEAD_MS = 600_000;

const readiness = z.looseObject({ clock_offset_seconds: z.number().optional() });
const readyz = async ({ opsUrl }: App) =>
  readiness.parse(JSON.parse((await request(opsUrl).get('/readyz').expect(200)).text));

afterEach(() => jest.restoreAllMocks());

test('a process whose clock is ten minutes ahead of Redis logs it and raises an alarm with the difference', async () => {
  const realNow = Date.now.bind(Date);
  jest.spyOn(Date, 'now').mockImplementation(() => realNow() + AHEAD_MS);
  const { log, lines } = recordedLog();
  const app = await start('all', { log });
  await eventually(() => app.sendHeartbeat());
  await eventually(() => app.sendHeartbeat());

  expect(lines.find(({ event }) => event === 'clock.off')).toMatchObject({ level: 'error' });
  const { clock_offset_seconds: seconds = 0 } = await readyz(app);
  expect(Math.abs(seconds - AHEAD_MS / 1000)).toBeLessThan(30);
  const page = textOf((await (await signedIn(app)).get('/ops')).html);
  expect(page).toContain(messagesIn('en').opsAlarms.clockOff.todo);
  expect(page).toContain('ahead of the clock of Redis');
  await eventually(async () => {
    const { text } = await request(app.opsUrl).get('/metrics').expect(200);
    const series = readMetricsText(text).find(({ name }) => name === 'towhook_clock_offset_seconds');
    expect(series?.samples.find(({ labels }) => labels['role'] === 'all')?.value).toBeGreaterThan(500);
  });
});

test('a process whose clock agrees with Redis has no difference in readyz', async () => {
  const app = await start('receiver');
  await eventually(() => app.sendHeartbeat());
  expect(await readyz(app)).not.toHaveProperty('clock_offset_seconds');
});
