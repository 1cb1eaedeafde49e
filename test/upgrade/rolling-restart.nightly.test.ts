import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { pause } from '../../src/platform/timers';
import { startSimulator } from '../../src/simulator';
import { simulatorOrders } from '../../src/contracts/service/simulator';
import { openRecord, refOf } from '../chaos/record';
import { startBalancer } from '../support/balancer';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { startRoleProcess, type RoleProcess } from '../support/role-process';

jest.setTimeout(180_000);
const redis = useOwnRedis({ appendfsync: 'everysec' });

const CREDENTIALS = { clientId: 'rolling-client', clientSecret: 'rolling-client-secret' };
const API_KEY = 'rolling-bootstrap-key-0001';
const LOAD_MS = 30_000;
const BATCH = 20;
const BATCH_EVERY_MS = 100;
const FACTS_EVERY_MS = 50;
const ROLES = ['receiver', 'worker', 'console'] as const;
type Role = (typeof ROLES)[number];

/** Orders tows at the simulator, which sends their webhooks at once; resolves with their references. */
async function orderTows(simulatorUrl: string, count: number): Promise<string[]> {
  const body = JSON.stringify({ count });
  const response = await fetch(`${simulatorUrl}/simulator/tow-requests`, { method: 'POST', body });
  const { items } = simulatorOrders.parse(await response.json());
  return items.map(({ towing_reference_id }) => towing_reference_id);
}

/** Records that a tow has started; resolves with the status of the answer. */
async function reportStart(consoleUrl: string, ref: string): Promise<number> {
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    'content-type': 'application/json',
    'idempotency-key': `start-${ref}`,
  };
  const body = JSON.stringify({ plate_number: 'ABC 1234', towed_location: 'a yard', latitude: 24.7, longitude: 46.6 });
  const response = await fetch(`${consoleUrl}/api/tows/${ref}/started`, { method: 'POST', headers, body });
  await response.arrayBuffer();
  return response.status;
}

test('two of each role are replaced one by one under 200 webhooks a second: no request fails, no report repeats', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-rolling-'));
  const webhooks = await startBalancer();
  const api = await startBalancer();
  const simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    webhookUrl: `http://127.0.0.1:${webhooks.port}`,
    credentials: CREDENTIALS,
    clock: systemClock,
    log: silentLog,
  });
  const environment = {
    REDIS_URL: redis.url,
    SERVICE_BASE_URL: `${simulator.url}/parking/api`,
    SERVICE_CLIENT_ID: CREDENTIALS.clientId,
    SERVICE_CLIENT_SECRET: CREDENTIALS.clientSecret,
    BOOTSTRAP_API_KEY: API_KEY,
    BUDGET_TOW_PER_MINUTE: '0',
    BUDGET_AUTH_PER_MINUTE: '0',
    STOP_DELAY_MS: '1500',
    LOG_LEVEL: 'info',
  };
  const started: RoleProcess[] = [];
  const start = async (role: Role) => {
    const process = startRoleProcess(role, { environment, dataDir: folder, linesKept: 200 });
    started.push(process);
    if (role !== 'worker') (role === 'receiver' ? webhooks : api).add(await process.url(role));
    await process.logged('process.started');
    return process;
  };
  const codes: (number | null)[] = [];
  const stop = async (process: RoleProcess) => {
    process.kill('SIGTERM');
    codes.push(await process.exited);
  };

  try {
    const running: { readonly role: Role; readonly process: RoleProcess }[] = [];
    for (const role of [...ROLES, ...ROLES]) running.push({ role, process: await start(role) });
    const record = openRecord(simulator.url);
    const loading = new AbortController();
    const refs: string[] = [];
    const wrong: string[] = [];
    const ordering = (async () => {
      for (let dueMs = performance.now(); !loading.signal.aborted; dueMs += BATCH_EVERY_MS) {
        refs.push(...(await orderTows(simulator.url, BATCH)));
        await pause(Math.max(0, dueMs + BATCH_EVERY_MS - performance.now()), loading.signal);
      }
    })();
    const reported: string[] = [];
    const recording = (async () => {
      for (let at = 0; !loading.signal.aborted;) {
        await pause(FACTS_EVERY_MS, loading.signal);
        const ref = refs[at];
        if (ref === undefined) continue;
        const answer = await reportStart(`http://127.0.0.1:${api.port}`, ref).catch((error: unknown) => String(error));
        // The webhook of the newest tows may not be processed yet.
        if (answer === 404) continue;
        if (answer === 202) reported.push(ref);
        else wrong.push(`fact of ${ref}: ${answer}`);
        at += 5;
      }
    })();

    const beganMs = performance.now();
    await pause(2000);
    for (const { role, process } of running) {
      await start(role);
      await stop(process);
    }
    const replacedMs = performance.now() - beganMs;
    await pause(Math.max(0, LOAD_MS - replacedMs));
    loading.abort();
    await Promise.all([ordering, recording]);

    const answered = await eventually(async () => {
      const attempts = await record.webhooks();
      expect(new Set(attempts.filter(({ status }) => status === 200).map(({ webhook_id }) => webhook_id)).size).toBe(
        refs.length,
      );
      return attempts;
    });
    const sent = async () => (await record.calls()).filter((call) => refOf(call) !== '');
    await eventually(async () => expect((await sent()).length).toBeGreaterThanOrEqual(reported.length), 60_000);
    const calls = await sent();
    const names = calls.map((call) => `${call.operation} ${refOf(call)}`);
    process.stdout.write(
      `  ${refs.length} webhooks, ${reported.length} facts, ${names.length} reports, replaced in ${Math.round(replacedMs)} ms\n`,
    );

    expect(codes).toEqual(running.map(() => 0));
    expect(wrong).toEqual([]);
    expect(answered.filter(({ status }) => status !== 200)).toEqual([]);
    expect(answered).toHaveLength(refs.length);
    expect(reported.length).toBeGreaterThan(10);
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted());
    expect(names).toHaveLength(reported.length);
  } finally {
    for (const each of started) each.kill('SIGKILL');
    await Promise.all(started.map(({ exited }) => exited));
    await simulator.stop(500);
    webhooks.stop();
    api.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
