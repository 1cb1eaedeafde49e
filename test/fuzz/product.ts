import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startTestRedis, type TestRedis } from '../support/redis-server';
import { startRoleProcess, type RoleProcess } from '../support/role-process';
import { startFakeAnswers, type FakeAnswers } from './fake-answers';
import { startProcessMeter, type ProcessMeter } from './measure-process';
import { createFuzzHttpClient, type FuzzHttpClient } from './http-client';

/** A running product (role `all`) with its event loop measured, its Redis and a fake service. */
export interface FuzzedProduct {
  readonly receiverUrl: string;
  readonly consoleUrl: string;
  readonly apiKey: string;
  /** A session of the console, and the token of its forms. */
  readonly session: { readonly cookie: string; readonly formToken: string };
  readonly service: FakeAnswers;
  readonly redis: TestRedis;
  readonly meter: ProcessMeter;
  readonly http: FuzzHttpClient;
  /** Log lines that no input may cause. */
  problems(): string[];
  stop(): Promise<void>;
}

export const FUZZ_API_KEY = 'bootstrap-key-of-the-fuzzer-0123456789';
/** Signs the calls to `/tow/invoice`; `/tow-request` accepts unsigned calls. */
export const FUZZ_SECRETS = [
  'whsec_ZnV6ei1zZWNyZXQtb25lLTAxMjM0NTY3ODk=',
  'whsec_ZnV6ei1zZWNyZXQtdHdvLTAxMjM0NTY3ODk=',
] as const;
export const WEBHOOK_LIMIT_BYTES = 131_072;
/** Tows that exist before the first input. */
export const KNOWN_TOWS: readonly string[] = Array.from({ length: 20 }, (_, index) => `TW-20261120-KNOWN${index}`);

const LINES_KEPT = 300;
/** A delivery that a worker fails to process this often is faulty. */
const FAILURES_OF_ITS_OWN = 3;

export async function setStage(): Promise<FuzzedProduct> {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-fuzz-'));
  const redis = await startTestRedis();
  const service = await startFakeAnswers();
  const meter = await startProcessMeter();
  const http = createFuzzHttpClient();
  const problems: string[] = [];
  const product = startRoleProcess('all', {
    dataDir: folder,
    linesKept: LINES_KEPT,
    onLine: (line) => {
      const problem = problemIn(line);
      if (problem !== null) problems.push(problem);
    },
    environment: {
      ...meter.environment,
      REDIS_URL: redis.url,
      SERVICE_BASE_URL: service.url,
      SERVICE_CLIENT_ID: 'fuzz-client',
      SERVICE_CLIENT_SECRET: 'fuzz-client-secret',
      BOOTSTRAP_API_KEY: FUZZ_API_KEY,
      WEBHOOK_SECRETS_TOW_INVOICE: FUZZ_SECRETS.join(','),
      WEBHOOK_BODY_LIMIT_BYTES: String(WEBHOOK_LIMIT_BYTES),
      SERVICE_TIMEOUT_MS: '3000',
      LOOKUP_CACHE_MS: '0',
      BUDGET_AUTH_PER_MINUTE: '0',
      BUDGET_SITE_PER_MINUTE: '0',
      BUDGET_TICKETS_PER_MINUTE: '0',
      BUDGET_VIOLATIONS_PER_MINUTE: '0',
    },
  });
  let isStopping = false;
  const watchEnd = async () => {
    const code = await product.exited;
    if (!isStopping) problems.push(`the process ended with ${code ?? 'a signal'}: ${product.problems().slice(-500)}`);
  };
  void watchEnd();
  const stop = async () => {
    isStopping = true;
    http.close();
    product.kill('SIGKILL');
    await product.exited;
    meter.stop();
    await service.stop();
    await redis.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const urls = await startedUrls(product);
    const session = await signIn(urls.consoleUrl, http);
    await Promise.all(KNOWN_TOWS.map((ref) => requestTow(urls.receiverUrl, ref, http)));
    return {
      ...urls,
      apiKey: FUZZ_API_KEY,
      session,
      service,
      redis,
      meter,
      http,
      problems: () => problems.splice(0),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startedUrls(product: RoleProcess) {
  await product.logged('process.started');
  return { receiverUrl: await product.url('receiver'), consoleUrl: await product.url('console') };
}

const logLine = z.looseObject({ message: z.string(), failures: z.number().optional(), error: z.string().optional() });

/** The fault that a log line reports; commands that a busy machine delays are not faults. */
function problemIn(line: string): string | null {
  const { message, failures = 0, error = '' } = logLine.parse(JSON.parse(line));
  const isSlow = /timed out|connection is closed/i.test(error);
  const isFault =
    message === 'process.failed' ||
    (message === 'delivery.failed' && failures >= FAILURES_OF_ITS_OWN) ||
    (['receiver.failed', 'api.failed', 'page.failed', 'job.failed'].includes(message) && !isSlow);
  return isFault ? `${message}: ${error}` : null;
}

async function signIn(consoleUrl: string, http: FuzzHttpClient): Promise<FuzzedProduct['session']> {
  const signedIn = await http.send(consoleUrl, {
    method: 'POST',
    path: '/sign-in',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    body: Buffer.from(new URLSearchParams({ key: FUZZ_API_KEY, next: '/shortcuts' }).toString()),
  });
  if (typeof signedIn === 'string') throw new Error(signedIn);
  const cookie = /towhook_session=([^;]+)/.exec(String(signedIn.headers['set-cookie']))?.[1] ?? '';
  const headers = { accept: 'text/html', cookie: `towhook_session=${cookie}` };
  const page = await http.send(consoleUrl, { method: 'GET', path: '/shortcuts', headers, body: Buffer.alloc(0) });
  const formToken = typeof page === 'string' ? '' : (/name="form_token" value="([^"]+)"/.exec(page.text)?.[1] ?? '');
  if (cookie === '' || formToken === '') throw new Error(`no session: the console answered ${signedIn.status}`);
  return { cookie, formToken };
}

async function requestTow(receiverUrl: string, ref: string, http: FuzzHttpClient): Promise<void> {
  const response = await http.send(receiverUrl, {
    method: 'POST',
    path: '/tow-request',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ violation_reference_id: `V-${ref}`, towing_reference_id: ref })),
  });
  if (typeof response === 'string' || response.status !== 200)
    throw new Error('a tow of the fuzzed product could not be requested');
}
