import { setTimeout as pause } from 'node:timers/promises';
import { violationView } from '../../src/contracts/violation/violations';
import type { JsonObject } from '../../src/domain/vocabulary';
import type { RetryingClient } from './client';
import { factsOf, pictureOf, type ImageFacts, type ViolationScenario } from './violation-scenarios';

/** A violation that towhook acknowledged, and everything the service must receive of it. */
export interface CrewViolation {
  /** Towhook's id. */
  readonly id: string;
  readonly metadata: JsonObject & { readonly id: string };
  /** The other fields of the form, as text. */
  readonly fields: Readonly<Record<string, string>>;
  readonly images: readonly ImageFacts[];
}

export interface PatrolTools {
  readonly client: RetryingClient;
  readonly signal: AbortSignal;
  /** Called with towhook's id of every acknowledged violation. */
  readonly reported: (id: string) => void;
}

const LOOK_EVERY_MS = 400;

/** Posts a violation until it is acknowledged. Rejects when it is refused, because it is valid. */
export async function report(
  violationScenario: ViolationScenario,
  index: number,
  tools: PatrolTools,
): Promise<CrewViolation> {
  const { fields, metadata } = violationScenario;
  const images = violationScenario.images.map((image) => {
    const picture = pictureOf(image);
    return { picture, facts: factsOf(image, picture) };
  });
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  if (metadata) form.append('metadata', JSON.stringify(metadata));
  for (const { picture, facts } of images) {
    form.append('images', new Blob([new Uint8Array(picture)], { type: 'image/png' }), facts.name);
  }
  const answer = await tools.client.postForm('/violations', { form, key: `violation ${index}` });
  if (answer.status !== 202) throw new Error(`a violation was answered ${answer.status} ${answer.code}`);
  const { id } = violationView.parse(answer.body);
  tools.reported(id);
  return { id, metadata: { id, ...metadata }, fields, images: images.map(({ facts }) => facts) };
}

/** Waits until towhook knows the tow that the service ordered for a violation. */
export async function towOf(
  { id }: CrewViolation,
  { client, signal }: PatrolTools,
): Promise<{ ref: string; violation: string }> {
  for (;;) {
    const [ref] = (await client.violation(id))?.towing_reference_ids ?? [];
    const tow = ref === undefined ? null : await client.tow(ref);
    if (tow) return { ref: tow.towing_reference_id, violation: tow.violation_reference_id };
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
}

/** The fields that a tow takes over from its violation. */
export function towFieldsOf({ fields }: CrewViolation): JsonObject {
  return {
    plate_number: fields['plateNumber'] ?? '',
    towed_location: fields['location'] ?? '',
    latitude: Number(fields['latitude']),
    longitude: Number(fields['longitude']),
  };
}
