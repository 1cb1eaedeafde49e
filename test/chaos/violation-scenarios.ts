import { createHash } from 'node:crypto';
import type { JsonObject } from '../../src/domain/vocabulary';
import { createRandom, type Random } from './random';

/** The violations that the patrols of a run report, with all their fields and images. */

/** A violation before it is reported. */
export interface ViolationScenario {
  /** The fields of the form except the metadata, as text (docs/service-api.md#violation-form). */
  readonly fields: Readonly<Record<string, string>>;
  /** The metadata of the patrol; half of them have an `id`. Null leaves the field out. */
  readonly metadata: JsonObject | null;
  readonly images: readonly ImageDrawn[];
}

/** An image that is generated when it is sent, because a run has too many to keep. */
interface ImageDrawn {
  readonly name: string;
  readonly seed: number;
  /** Bytes after its header. */
  readonly noiseBytes: number;
}

/** An image as the service must receive it. */
export interface ImageFacts {
  readonly name: string;
  readonly size: number;
  readonly sha256: string;
}

const PLACES = [
  ['Tahlia Street 14', '24.6969', '46.6855'],
  ['طريق الملك عبد الله، أمام البوابة ٣', '24.7412345678901', '46.65'],
  ['Hay "Al Malqa" \\ gate 2; kerb', '-24.8123', '0'],
] as const;
/** Types that the service has towed away. */
const TYPES = ['WRONG_PARKING', 'OBS_CLS_PARKING', 'PROH_PARKING', 'EMRG_PARKING'] as const;
const IMAGE_NAMES = ['صورة.png', 'front.png', 'left side; (2).png'] as const;
const IMAGES_MAX = 3;
/** Mostly less than one packet, sometimes many. */
const NOISE_BYTES_MAX = [4000, 4000, 4000, 150_000] as const;
/** A PNG of one pixel. */
const PICTURE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A random violation; `index` makes it unique in the run. */
export function violationScenarioOf(random: Random, index: number): ViolationScenario {
  const [location, latitude, longitude] = random.pick(PLACES);
  const number = 1000 + index;
  const own = random.chance(0.5) ? { id: `patrol ${number}/${random.whole(0, 9)}` } : {};
  const also = random.chance(0.5) ? { car: random.whole(1, 9), note: 'ملاحظة "1"' } : {};
  const metadata = { ...own, ...also };
  const reporter = { fullName: `Patrol ${number}`, identityNumber: '1000000008', mobileNumber: '0512345678' };
  return {
    fields: {
      latitude,
      longitude,
      location,
      plateNumber: random.chance(0.3) ? `د ه و ${number}` : `VIO ${number}`,
      plateType: random.pick(['PRIVATE', 'Heavy_Equipment', 'TAXI']),
      zoneId: '11111111-2222-4333-8444-555555555555',
      violationType: random.pick(TYPES),
      ...(random.chance(0.5) ? { date: '2026-11-20T18:05:00Z', isSaudi: random.pick(['true', 'false']) } : {}),
      ...(random.chance(0.5) ? { imagesDescription: 'Front and back', ...reporter } : {}),
    },
    metadata: Object.keys(metadata).length === 0 ? null : metadata,
    images: Array.from({ length: random.whole(0, IMAGES_MAX) }, () => ({
      name: random.pick(IMAGE_NAMES),
      seed: random.whole(0, 2 ** 32 - 1),
      noiseBytes: random.whole(1, random.pick(NOISE_BYTES_MAX)),
    })),
  };
}

/** A valid picture followed by noise; the same for the same seed. */
export function pictureOf({ seed, noiseBytes }: ImageDrawn): Buffer {
  const random = createRandom(seed, 0);
  const noise = Uint8Array.from({ length: noiseBytes }, () => random.whole(0, 255));
  return Buffer.concat([Buffer.from(PICTURE, 'base64'), noise]);
}

export function factsOf(image: ImageDrawn, picture: Buffer): ImageFacts {
  const sha256 = createHash('sha256').update(picture).digest('hex');
  return { name: image.name, size: picture.length, sha256 };
}
