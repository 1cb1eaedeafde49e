import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { printLine } from '../src/platform/terminal';
import { imageOf } from '../test/support/images';
import { openTown, type Town } from './town';

/** `node --require tsx/cjs bench/upload.ts`: what uploads cost the console in memory; one refused, then many taken. */
const TOO_LARGE_BYTES = 11_000_000;
const IMAGE_BYTES = 9 * 1024 * 1024;
const UPLOADS = 200;
const LOOK_EVERY_MS = 20;
const MIB = 1024 * 1024;

const FIELDS = {
  latitude: '24.7136',
  longitude: '46.6753',
  location: 'Olaya Street',
  plateNumber: 'ABJ 1235',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  violationType: 'WRONG_PARKING',
};

async function main(): Promise<void> {
  const town = await openTown();
  try {
    await upload(town, 1000);
    await measure(town, '11 MB, length told', { uploads: 1, bytes: TOO_LARGE_BYTES, wanted: 413 });
    await measure(town, '11 MB, length not told', { uploads: 1, bytes: TOO_LARGE_BYTES, wanted: 413, isChunked: true });
    for (const round of ['first', 'next']) {
      await measure(town, `${round} ${UPLOADS / 2} of 9 MiB`, {
        uploads: UPLOADS / 2,
        bytes: IMAGE_BYTES,
        wanted: 202,
      });
    }
  } finally {
    await town.end();
  }
}

async function measure(
  town: Town,
  name: string,
  {
    uploads,
    bytes,
    wanted,
    isChunked = false,
  }: { uploads: number; bytes: number; wanted: number; isChunked?: boolean },
): Promise<void> {
  const watched = watch(town.consoleProcessId);
  const beforeBytes = await residentBytes(town.consoleProcessId);
  const startedMs = performance.now();
  for (let count = 0; count < uploads; count += 1) {
    const status = await upload(town, bytes, isChunked);
    if (status !== wanted) throw new Error(`answered ${status} instead of ${wanted}`);
  }
  const tookMs = performance.now() - startedMs;
  const peakBytes = await watched.peak();
  const afterBytes = await residentBytes(town.consoleProcessId);
  const mib = (value: number) => `${(value / MIB).toFixed(0)} MiB`;
  printLine(
    `${name.padEnd(26)} RSS ${mib(beforeBytes)} before, ${mib(peakBytes)} peak, ${mib(afterBytes)} after; ${(tookMs / 1000).toFixed(1)} s`,
  );
}

async function upload(town: Town, bytes: number, isChunked = false): Promise<number> {
  const form = new FormData();
  for (const [name, value] of Object.entries(FIELDS)) form.append(name, value);
  form.append('images', new Blob([new Uint8Array(imageOf(bytes))]), 'photo.png');
  const whole = new Request(`${town.consoleUrl}/api/violations`, { method: 'POST', body: form });
  whole.headers.set('authorization', `Bearer ${town.apiKey}`);
  // A body that is handed over as a stream goes out in pieces, without its length.
  const stream = { method: 'POST', headers: whole.headers, body: whole.body, duplex: 'half' } as const;
  const response = await (isChunked ? fetch(whole.url, stream) : fetch(whole));
  await response.arrayBuffer();
  return response.status;
}

/** Looks at a process again and again until asked for the most it has had. */
function watch(processId: number): { peak(): Promise<number> } {
  let peakBytes = 0;
  const ending = new AbortController();
  const looking = (async () => {
    while (!ending.signal.aborted) {
      peakBytes = Math.max(peakBytes, await residentBytes(processId));
      await pause(LOOK_EVERY_MS);
    }
  })();
  return {
    async peak() {
      ending.abort();
      await looking;
      return Math.max(peakBytes, await residentBytes(processId));
    },
  };
}

/** Linux only. */
async function residentBytes(processId: number): Promise<number> {
  const status = await readFile(`/proc/${processId}/status`, 'utf8');
  const [, kibibytes = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
  return Number(kibibytes) * 1024;
}

void main();
