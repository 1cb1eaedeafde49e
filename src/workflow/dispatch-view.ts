import type { TowView } from '../contracts/operator';
import type { Dispatch } from '../domain/dispatch';

/** What the operator keeps of a tow for itself, as the API shows it. Where a photo lies on the disk is not shown. */
export function dispatchViewOf(dispatch: Dispatch): TowView['dispatch'] {
  return {
    assignment: dispatch.assignment && { ...dispatch.assignment },
    steps: dispatch.steps.map(({ step, occurredAt, recordedAt, by }) => ({
      step,
      occurred_at: occurredAt,
      recorded_at: recordedAt,
      by,
    })),
    yard: dispatch.yard && { ...dispatch.yard },
    holds: dispatch.holds.map((hold) => ({ ...hold })),
    notes: dispatch.notes.map((note) => ({ ...note })),
    photos: dispatch.photos.map(({ id, name, contentType, sizeBytes, sha256, at, by }) => ({
      id,
      name,
      content_type: contentType,
      size_bytes: sizeBytes,
      sha256,
      at,
      by,
    })),
  };
}
