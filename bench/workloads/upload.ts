import type { Measurement, Sample } from '../measure/figures';
import { watchMemory, machineMs } from '../measure/resources';
import { API_KEY, type BenchWorld } from '../stage/world';
import { imageOf } from '../../test/support/images';
import { compare, type Workload } from './workload';

const IMAGE_BYTES = 9 * 1024 * 1024;
const UPLOADS = 100;
/** More than one image may have; the answer is 413. */
const TOO_LARGE_BYTES = 11_000_000;
const ACCEPTED = 202;
const TOO_LARGE = 413;

const FIELDS = {
  latitude: '24.7136',
  longitude: '46.6753',
  location: 'Olaya Street',
  plateNumber: 'BNC 1234',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  violationType: 'WRONG_PARKING',
};

/** What images cost the console that takes them. */
export const upload: Workload = {
  name: 'upload',
  about: 'memory of a console that takes 100 violations with an image of 9 MiB each, and one that is too large',
  isStandard: false,
  measure: (tools) => compare('upload', { figures: FIGURES, plays: [{ contender: 'towhook', run }] }, tools),
};

const FIGURES: Readonly<Record<string, Measurement>> = {
  before: { label: 'console memory before', unit: 'MiB', digits: 0 },
  refused: { label: 'highest while an image of 11 MB is refused, without Content-Length', unit: 'MiB', digits: 0 },
  taken: { label: `highest while ${UPLOADS} images of 9 MiB are taken`, unit: 'MiB', digits: 0 },
  seconds: { label: `${UPLOADS} images of 9 MiB`, unit: 's', digits: 1 },
};

async function run(world: BenchWorld): Promise<Sample> {
  const console = await world.role('console');
  const url = console.url('console');
  await post(url, { bytes: 1000, wanted: ACCEPTED });
  const highestDuring = async (work: () => Promise<void>) => {
    const memory = watchMemory([console.processId]);
    await work();
    return (await memory.end())(console.processId);
  };
  const before = await highestDuring(() => Promise.resolve());
  const refused = await highestDuring(() => post(url, { bytes: TOO_LARGE_BYTES, wanted: TOO_LARGE, isChunked: true }));
  const startedMs = machineMs();
  const taken = await highestDuring(async () => {
    for (let count = 0; count < UPLOADS; count += 1) await post(url, { bytes: IMAGE_BYTES, wanted: ACCEPTED });
  });
  return { before, refused, taken, seconds: (machineMs() - startedMs) / 1000 };
}

async function post(
  url: string,
  { bytes, wanted, isChunked = false }: { bytes: number; wanted: number; isChunked?: boolean },
): Promise<void> {
  const form = new FormData();
  for (const [name, value] of Object.entries(FIELDS)) form.append(name, value);
  form.append('images', new Blob([new Uint8Array(imageOf(bytes))]), 'photo.png');
  const whole = new Request(`${url}/api/violations`, { method: 'POST', body: form });
  whole.headers.set('authorization', `Bearer ${API_KEY}`);
  // A body that is given as a stream is sent in pieces, without its length.
  const stream = { method: 'POST', headers: whole.headers, body: whole.body, duplex: 'half' } as const;
  const answer = await (isChunked ? fetch(whole.url, stream) : fetch(whole));
  await answer.arrayBuffer();
  if (answer.status !== wanted) throw new Error(`answered ${answer.status} instead of ${wanted}`);
}
