import { createConnection } from 'node:net';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into a process under test with `node --require`: measures its event loop and its memory, and answers questions
 * about them over a socket. Of a stretch in which no timer ran, only the part counts that the process spent on the
 * processor: time in which the machine ran something else blocks nothing. Garbage collection counts, as an input may be
 * what fills the heap, and is reported apart.
 */

const TICK_MS = 5;
/** Shorter stretches are not kept. */
const KEPT_MS = 20;

interface Stretch {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cpuMs: number;
}

const port = Number(process.env['FUZZ_PROBE_PORT']);
const stretches: Stretch[] = [];
const collections: { fromMs: number; toMs: number }[] = [];
let lastMs = performance.now();
let lastCpuMs = cpuMs();

new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) {
    if (duration > 1) collections.push({ fromMs: startTime, toMs: startTime + duration });
  }
}).observe({ entryTypes: ['gc'] });

setInterval(() => {
  const nowMs = performance.now();
  const nowCpuMs = cpuMs();
  if (nowMs - lastMs - TICK_MS > KEPT_MS) {
    stretches.push({ fromMs: lastMs + TICK_MS, toMs: nowMs, cpuMs: nowCpuMs - lastCpuMs });
  }
  lastMs = nowMs;
  lastCpuMs = nowCpuMs;
}, TICK_MS).unref();

const socket = createConnection(port, '127.0.0.1').unref();
socket.on('error', () => {});
socket.on('data', (asked: Buffer) => {
  const wantsCollection = asked.toString().includes('collect');
  // The next tick must have seen what was running until now, and the observer its collections.
  setTimeout(() => {
    if (wantsCollection) collectGarbage();
    socket.write(`${JSON.stringify(measured())}\n`);
  }, TICK_MS * 2);
});

function measured() {
  const collectedMs = ({ fromMs, toMs }: Stretch) =>
    collections.reduce((sum, one) => sum + Math.max(0, Math.min(toMs, one.toMs) - Math.max(fromMs, one.fromMs)), 0);
  const blockOf = ({ fromMs, toMs, cpuMs }: Stretch) => Math.min(toMs - fromMs, cpuMs);
  const [longest] = stretches.toSorted((a, b) => blockOf(b) - blockOf(a));
  const { heapUsed, rss, external } = process.memoryUsage();
  const result = {
    blockedMs: longest ? blockOf(longest) : 0,
    collectedMs: longest ? collectedMs(longest) : 0,
    heapBytes: heapUsed + external,
    rssBytes: rss,
  };
  stretches.length = 0;
  collections.length = 0;
  return result;
}

function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  // Twice: the first run only finds what finalizers let go.
  if (typeof collect === 'function') for (let run = 0; run < 2; run += 1) Reflect.apply(collect, undefined, []);
}
