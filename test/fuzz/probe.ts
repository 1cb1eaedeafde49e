import { createConnection } from 'node:net';
import { PerformanceObserver, performance } from 'node:perf_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Loaded into a process under test with `node --require`: measures its event loop and its memory, and answers questions
 * about them over a socket. Of a time in which no timer ran, only the CPU time of the process counts, because the machine
 * may have run something else. Garbage collection counts, because an input may fill the heap, and is reported separately.
 */

const TICK_MS = 5;
/** Shorter times are not kept. */
const KEPT_MS = 20;

interface MeasuredInterval {
  readonly fromMs: number;
  readonly toMs: number;
  readonly cpuMs: number;
}

const port = Number(process.env['FUZZ_PROBE_PORT']);
const stretches: MeasuredInterval[] = [];
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
  // Waits until the timer and the observer have recorded what ran until now.
  setTimeout(() => {
    if (wantsCollection) collectGarbage();
    socket.write(`${JSON.stringify(measured())}\n`);
  }, TICK_MS * 2);
});

function measured() {
  const collectedMs = ({ fromMs, toMs }: MeasuredInterval) =>
    collections.reduce((sum, one) => sum + Math.max(0, Math.min(toMs, one.toMs) - Math.max(fromMs, one.fromMs)), 0);
  const blockOf = ({ fromMs, toMs, cpuMs }: MeasuredInterval) => Math.min(toMs - fromMs, cpuMs);
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
  // Twice, because the second collection frees what finalizers released in the first.
  if (typeof collect === 'function') for (let run = 0; run < 2; run += 1) Reflect.apply(collect, undefined, []);
}
