import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { simulatorViolations } from '../../contracts/simulator';
import type { Clock } from '../../platform/clock';
import type { NewViolation, OperatorClient } from './client';
import { whereOf } from './plan';

/** Some tows of the demo begin as they do in the field: a patrol reports a violation with pictures of the vehicle. */

/** What a patrol reported; its pictures by their fingerprints. */
export interface Sighting {
  readonly form: NewViolation;
  readonly pictures: readonly string[];
}

/** How the sightings fared, as the service itself recorded them. */
export interface SightingFindings {
  readonly reported: number;
  readonly arrived: number;
  /** Those that arrived otherwise than they were reported, or twice. */
  readonly wrong: number;
}

/** The smallest picture there is; whatever follows its end is not looked at and makes each one another. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURES = 2;
const PICTURE_BYTES = 100_000;
const ZONE = 'a3f0c1d2-5b6e-4c7d-8e9f-0a1b2c3d4e5f';
const LOOK_EVERY_MS = 200;

/** Reports so many violations through the operator API, one after the other. */
export async function patrol(client: OperatorClient, count: number): Promise<Sighting[]> {
  const sightings: Sighting[] = [];
  for (let index = 0; index < count; index += 1) {
    const pictures = Array.from({ length: PICTURES }, () =>
      Buffer.concat([Buffer.from(DOT, 'base64'), randomBytes(PICTURE_BYTES)]),
    );
    const form = formFor(index);
    const files = pictures.map((bytes, number) => new File([new Uint8Array(bytes)], `picture-${number + 1}.png`));
    await client.report(form, files);
    sightings.push({ form, pictures: pictures.map(fingerprint) });
  }
  return sightings;
}

/** The service's names of the sightings it has, by the plate; resolves once it has all of them, or the time is up. */
export async function whenTaken(
  simulatorUrl: string,
  sightings: readonly Sighting[],
  { clock, limitMs }: { clock: Clock; limitMs: number },
): Promise<{ readonly reference: string; readonly sighting: Sighting }[]> {
  const untilMs = clock.monotonicMs() + limitMs;
  for (;;) {
    const taken = await takenBy(simulatorUrl);
    const found = sightings.flatMap((sighting) => {
      const violation = taken.find(({ plate_number: plate }) => plate === sighting.form.plateNumber);
      return violation ? [{ reference: violation.violation_reference_id, sighting }] : [];
    });
    if (found.length === sightings.length || clock.monotonicMs() > untilMs) return found;
    await pause(LOOK_EVERY_MS);
  }
}

/** Compares what the patrol reported with what arrived at the service, field by field and picture by picture. */
export async function checkSightings(simulatorUrl: string, sightings: readonly Sighting[]): Promise<SightingFindings> {
  const taken = await takenBy(simulatorUrl);
  const matches = sightings.map(({ form, pictures }) => {
    const copies = taken.filter(({ plate_number: plate }) => plate === form.plateNumber);
    const isExact = copies.every(
      ({ fields: { metadata: _id, ...fields }, images }) =>
        isDeepStrictEqual(fields, form) &&
        isDeepStrictEqual(
          images.map(({ sha256 }) => sha256),
          pictures,
        ),
    );
    return { arrived: copies.length > 0, wrong: !isExact || copies.length > 1 };
  });
  return {
    reported: sightings.length,
    arrived: matches.filter(({ arrived }) => arrived).length,
    wrong: matches.filter(({ wrong }) => wrong).length,
  };
}

async function takenBy(simulatorUrl: string) {
  const answer: unknown = await (await fetch(`${simulatorUrl}/simulator/violations`)).json();
  return simulatorViolations.parse(answer).items;
}

function formFor(index: number): NewViolation {
  const { plate_number, towed_location, latitude, longitude } = whereOf(index);
  return {
    latitude,
    longitude,
    location: towed_location,
    plateNumber: plate_number,
    plateType: 'PRIVATE',
    zoneId: ZONE,
    violationType: 'WRONG_PARKING',
  };
}

function fingerprint(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
