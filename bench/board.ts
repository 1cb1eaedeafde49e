import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { parseSetCookie } from 'cookie';
import { printLine } from '../src/platform/terminal';
import { startTestRedis } from '../test/support/redis';
import { startRoleProcess } from '../test/support/role-process';
import { askedBy, chipsIn } from '../test/console/board';
import { fillBoard, refOf } from './full-board';

/**
 * `node --require tsx/cjs bench/board.ts`: a board of 10,000 open tows, as its server serves it; medians of 40 requests
 * after 5 that warm it up. Takes about a minute, most of it to write the tows.
 */
const TOWS = 10_000;
const RUNS = 40;
const WARM_UP = 5;
const API_KEY = 'bench-bootstrap-key';

const PAGES = {
  'first page': '/board',
  'oldest first': '/board?order=oldest',
  requested: '/board?state=requested',
  unsent: '/board?unsent=true',
  overdue: '/board?overdue=true',
  'overdue, unassigned': '/board?overdue=true&crew=',
  'unsent and overdue': '/board?overdue=true&unsent=true',
  'unassigned, any state': '/board?state=all&crew=',
  'of one crew': '/board?crew=Crew+7',
  'search, one tow': `/board?q=${refOf(4711).toLowerCase()}`,
  'search, all tows': '/board?q=tw-',
  'in Arabic': '/board?lang=ar',
} as const;

async function main(): Promise<void> {
  const redis = await startTestRedis();
  const dataDir = await mkdtemp(join(tmpdir(), 'towhook-bench-'));
  const environment = {
    REDIS_URL: redis.url,
    BOOTSTRAP_API_KEY: API_KEY,
    OVERDUE_REQUESTED_MINUTES: '45',
    OVERDUE_REPORT_MINUTES: '15',
  };
  try {
    const filling = performance.now();
    await fillBoard(redis.url, TOWS);
    const filledMs = performance.now() - filling;
    const desk = startRoleProcess('console', { environment, dataDir, linesKept: 100 });
    try {
      const url = await desk.url('console');
      const cookie = await signIn(url);
      const counts = chipsIn(await ask(`${url}/board`, { headers: { accept: 'text/html', cookie } }));
      const [open, overdue] = [counts.get('Open')?.count, counts.get('Overdue')?.count];
      printLine(`open tows                ${open}, ${overdue} overdue; written in ${(filledMs / 1000).toFixed(0)} s`);
      for (const [name, path] of Object.entries(PAGES)) {
        const language = name === 'in Arabic' ? 'ar' : 'en';
        const headers = { accept: 'text/html', cookie: `${cookie}; towhook_language=${language}` };
        const { html, report } = await measure(() => ask(`${url}${path}`, { headers }));
        printLine(`${name.padEnd(24)} ${report}, ${kib(gzipSync(html).length)} compressed`);
      }
      await measureRefresh(url, cookie);
    } finally {
      desk.kill('SIGKILL');
      await desk.exited;
    }
  } finally {
    await redis.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** What an open board asks for once a second while tows change. */
async function measureRefresh(url: string, cookie: string): Promise<void> {
  const headers = { accept: 'text/html', cookie };
  const shown = await ask(`${url}/board`, { headers });
  const body = new URLSearchParams(askedBy(shown)).toString();
  const form = { ...headers, 'content-type': 'application/x-www-form-urlencoded' };
  const { html, report } = await measure(() => ask(`${url}/board/live`, { method: 'POST', headers: form, body }));
  printLine(`${'live refresh'.padEnd(24)} ${report}, ${kib(gzipSync(html).length)} compressed`);
}

async function measure(request: () => Promise<string>): Promise<{ html: string; report: string }> {
  const tookMs: number[] = [];
  let html = '';
  for (let run = 0; run < WARM_UP + RUNS; run += 1) {
    const startedMs = performance.now();
    html = await request();
    if (run >= WARM_UP) tookMs.push(performance.now() - startedMs);
  }
  const sorted = tookMs.toSorted((a, b) => a - b);
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? 0).toFixed(0);
  return { html, report: `median ${at(0.5)} ms, slowest tenth from ${at(0.9)} ms` };
}

async function signIn(url: string): Promise<string> {
  const answer = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    body: new URLSearchParams({ key: API_KEY }),
  });
  return answer.headers
    .getSetCookie()
    .map((line) => parseSetCookie(line))
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');
}

async function ask(url: string, init: RequestInit): Promise<string> {
  const answer = await fetch(url, { ...init, redirect: 'manual' });
  if (answer.status !== 200) throw new Error(`${answer.status} from ${new URL(url).pathname}`);
  return answer.text();
}

const kib = (bytes: number) => `${(bytes / 1024).toFixed(1)} KiB`;

void main().finally(() => process.exit());
