import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { simulatorViolations } from '../contracts/service/simulator';
import type { Clock } from '../platform/clock';
import { sha256Hex } from '../platform/hash';
import { pause } from '../platform/timers';
import type { NewViolation, OperatorClient } from './client';
import { placeOf } from './plan';

/** Some tows of the demo begin with a patrol that reports a violation with images of the vehicle. */

/** A reported violation; its images as SHA-256. */
export interface ReportedViolation {
  readonly form: NewViolation;
  readonly pictures: readonly string[];
}

/** The violations as the service recorded them. */
export interface ViolationFindings {
  readonly reported: number;
  readonly arrived: number;
  /** Violations that arrived changed, or twice. */
  readonly wrong: number;
}

/** A PNG of one pixel. Random bytes after its end make each image unique. */
const DOT = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const PICTURES = 2;
const PICTURE_BYTES = 100_000;
const ZONE = 'a3f0c1d2-5b6e-4c7d-8e9f-0a1b2c3d4e5f';
const LOOK_EVERY_MS = 200;

/** Reports this many violations through the operator API, one after the other. */
export async function reportViolations(client: OperatorClient, count: number): Promise<ReportedViolation[]> {
  const violations: ReportedViolation[] = [];
  for (let index = 0; index < count; index += 1) {
    const pictures = Array.from({ length: PICTURES }, () =>
      Buffer.concat([Buffer.from(DOT, 'base64'), randomBytes(PICTURE_BYTES)]),
    );
    const form = formFor(index);
    const files = pictures.map((bytes, number) => new File([new Uint8Array(bytes)], `picture-${number + 1}.png`));
    await client.report(form, files);
    violations.push({ form, pictures: pictures.map(sha256) });
  }
  return violations;
}

/**
 * Waits until the service has all violations, or until the limit; returns its reference of each, found by the plate.
 */
export async function untilArrived(
  simulatorUrl: string,
  violations: readonly ReportedViolation[],
  { clock, limitMs }: { clock: Clock; limitMs: number },
): Promise<{ readonly reference: string; readonly violation: ReportedViolation }[]> {
  const untilMs = clock.monotonicMs() + limitMs;
  for (;;) {
    const arrivedViolations = await violationsAt(simulatorUrl);
    const found = violations.flatMap((violation) => {
      const match = arrivedViolations.find(({ plate_number: plate }) => plate === violation.form.plateNumber);
      return match ? [{ reference: match.violation_reference_id, violation }] : [];
    });
    if (found.length === violations.length || clock.monotonicMs() > untilMs) return found;
    await pause(LOOK_EVERY_MS);
  }
}

/** Compares the reported violations with those at the service, field by field and image by image. */
export async function checkViolations(
  simulatorUrl: string,
  violations: readonly ReportedViolation[],
): Promise<ViolationFindings> {
  const arrivedViolations = await violationsAt(simulatorUrl);
  const matches = violations.map(({ form, pictures }) => {
    const copies = arrivedViolations.filter(({ plate_number: plate }) => plate === form.plateNumber);
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
    reported: violations.length,
    arrived: matches.filter(({ arrived }) => arrived).length,
    wrong: matches.filter(({ wrong }) => wrong).length,
  };
}

async function violationsAt(simulatorUrl: string) {
  const answer: unknown = await (await fetch(`${simulatorUrl}/simulator/violations`)).json();
  return simulatorViolations.parse(answer).items;
}

function formFor(index: number): NewViolation {
  const { plate_number, towed_location, latitude, longitude } = placeOf(index);
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

function sha256(bytes: Buffer): string {
  return sha256Hex(bytes);
}
