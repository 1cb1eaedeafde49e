import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DASHBOARD_EXPRESSIONS } from '../architecture/alert-files';
import { eventually } from '../support/eventually';
import { lastingPort } from '../support/lasting-port';
import { promtool, startPrometheus, type Prometheus } from '../support/prometheus';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';
import { playThroughOutage } from './outage';
import { PROJECT } from '../support/project';

jest.setTimeout(300_000);
const redis = useRedis();

const FOLDER = join(PROJECT, 'deploy', 'prometheus');
/** The rules as they are, but for alerts that wait for minutes: here they wait for two seconds. */
const FAST_RULES = readFileSync(join(FOLDER, 'alerts.yml'), 'utf8').replaceAll(/for: \d+m$/gm, 'for: 2s');

let prometheus: Prometheus | null = null;
afterEach(async () => {
  await prometheus?.stop();
  prometheus = null;
});

test('promtool accepts the rules and the example of a configuration, and every alert fires and ends', async () => {
  expect(await promtool('check', 'rules', join(FOLDER, 'alerts.yml'))).toMatch(/SUCCESS: \d+ rules found/);
  expect(await promtool('check', 'config', '--syntax-only', join(FOLDER, 'prometheus.yml'))).toContain('SUCCESS');
  expect(await promtool('test', 'rules', join(FOLDER, 'alerts.test.yml'))).toContain('SUCCESS');
});

test('Prometheus shows real figures, and alerts fire during an outage and a lost process and end afterwards', async () => {
  const town = await buildTown(redis.url);
  const environment = { RETRY_BASE_MS: '500', UNKNOWN_GRACE_MS: '1000', OPS_PORT: String(await lastingPort()) };
  const all = await town.start('all', environment);
  const scraping = await startPrometheus({ rules: FAST_RULES, targets: [`127.0.0.1:${environment.OPS_PORT}`] });
  prometheus = scraping;
  const fires = (name: string) => eventually(async () => expect(await scraping.firing()).toContain(name), 60_000);
  const isQuiet = () => eventually(async () => expect(await scraping.firing()).toEqual([]), 60_000);
  await eventually(async () => expect(await scraping.value('towhook_redis_writable')).toBe(1));
  await isQuiet();

  const outage = await playThroughOutage(await town.addressesOf(all), {
    tows: 40,
    paceMs: 100,
    beginsAfterCalls: 40,
    untilRecovery: () => fires('TowhookOutage'),
    timeLimitMs: 200_000,
  });
  expect(outage.finished).toBe(40);
  await isQuiet();
  await eventually(async () => {
    expect(await scraping.value('sum(towhook_deliveries_accepted_total{kind="tow_request"})')).toBe(40);
    expect(await scraping.value('sum(towhook_report_delivery_seconds_count)')).toBe(outage.findings.reportsArrived);
    expect(await scraping.value('max(towhook_circuit_open)')).toBe(0);
  });
  // Prometheus refuses an expression that it cannot parse.
  for (const expression of DASHBOARD_EXPRESSIONS) await scraping.value(expression);

  all.kill('SIGKILL');
  await fires('TowhookNotScraped');
  await fires('TowhookNotRunning');
  await town.start('all', environment);
  await isQuiet();
});
