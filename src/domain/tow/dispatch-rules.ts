import {
  CREW_STEPS,
  type Assignment,
  type CrewStep,
  type CrewStepTaken,
  type Dispatch,
  type Hold,
  type Photo,
  type YardPlace,
} from './dispatch';
import { occurredAt, isoTimestamp } from '../timestamp';
import { conflict, invalid, unknown, type Decision } from '../refusal';
import { isTerminal, type Tow } from './tow';

/** A change of the operator's own records of a tow. The contracts have checked texts and lengths. */
export type DispatchCommand =
  /** `crew: null` removes the assignment. */
  | { readonly kind: 'assign'; readonly crew: string | null; readonly truck?: string | undefined }
  /** Without a step it is refused. */
  | { readonly kind: 'step'; readonly step: CrewStep | undefined; readonly occurredAt?: string | undefined }
  | { readonly kind: 'yard'; readonly yard: string; readonly slot?: string | undefined }
  | { readonly kind: 'hold'; readonly holdId: string; readonly reason: string }
  | { readonly kind: 'lift'; readonly holdId: string; readonly reason: string }
  | { readonly kind: 'note'; readonly text: string };

interface DispatchContext {
  readonly by: string;
  /** Clock of this process, ms. The time of a step must not lie in its future. */
  readonly clockMs: number;
}

export type DispatchChange = Decision<{ tow: Tow }>;

type Command<K extends DispatchCommand['kind']> = Extract<DispatchCommand, { kind: K }>;

/** A tow is read and written as a whole, so its lists are bounded, far beyond real use. */
export const HOLDS_MAX = 100;
export const NOTES_MAX = 500;
const PHOTOS_MAX = 200;

/**
 * Applies a change to the operator's own records of a tow, or refuses it. No change owes a report. Facts do not depend on these
 * records, except that open holds block payment and release (`blockedByHold`). A tow that is over accepts only notes and
 * the lifting of holds.
 * Refusals: `tow_is_over`, `already_recorded`, `step_not_allowed`, `yard_not_allowed`, `not_assigned`, `hold_not_found`,
 * `too_many_holds`, `too_many_notes`, `field_invalid`.
 */
export function applyDispatch(tow: Tow, command: DispatchCommand, context: DispatchContext): DispatchChange {
  switch (command.kind) {
    case 'assign':
      return refusedWhenOver(tow) ?? assign(tow, command, context);
    case 'step':
      return refusedWhenOver(tow) ?? takeStep(tow, command, context);
    case 'yard':
      return refusedWhenOver(tow) ?? setYard(tow, command, context);
    case 'hold':
      return refusedWhenOver(tow) ?? placeHold(tow, command, context);
    case 'lift':
      return liftHold(tow, command, context);
    case 'note':
      return addNote(tow, command, context);
  }
}

/** The tow with more photos, also if it is over. Refusal: `too_many_photos`. */
export function addPhotosTo(tow: Tow, photos: readonly Photo[]): DispatchChange {
  const all = [...tow.dispatch.photos, ...photos];
  if (all.length > PHOTOS_MAX) return conflict('too_many_photos', `A tow takes ${PHOTOS_MAX} photos.`);
  return changed(tow, { photos: all });
}

/** The refusal of a payment or a release while holds are open, with their ids; null if none is open. */
export function blockedByHold(tow: Tow): ReturnType<typeof conflict> | null {
  const open = openHolds(tow.dispatch).map(({ id }) => id);
  if (open.length === 0) return null;
  const details = open.map((id) => ({ field: `holds.${id}`, rule: 'is open' }));
  return conflict('on_hold', `The tow is on hold; lift first: ${open.join(', ')}.`, details);
}

/** Assigns a crew, or none. Another crew starts without steps; those of the crew before stay on the timeline. */
function assign(tow: Tow, command: Command<'assign'>, context: DispatchContext): DispatchChange {
  const before = tow.dispatch.assignment;
  const { crew } = command;
  const truck = command.truck ?? null;
  if (crew === null) {
    if (truck !== null) return invalid([{ field: 'truck', rule: 'must be left out when crew is null' }]);
    if (!before) return conflict('not_assigned', 'The tow has no crew.');
    return changed(tow, { assignment: null, steps: [] });
  }
  if (before && before.crew === crew && before.truck === truck) {
    return conflict('already_recorded', 'The tow is already assigned to this crew and truck.');
  }
  const assignment: Assignment = { crew, truck, at: iso(context), by: context.by };
  const isAnother = before !== null && before.crew !== crew;
  return changed(tow, { assignment, ...(isAnother ? { steps: [] } : {}) });
}

/** Records a step. Steps keep their order, can be skipped, and end once the vehicle is hooked up. */
function takeStep(tow: Tow, { step, occurredAt: given }: Command<'step'>, context: DispatchContext): DispatchChange {
  const { steps } = tow.dispatch;
  if (tow.state !== 'requested' && tow.state !== 'started') {
    return conflict('step_not_allowed', `A tow that is ${tow.state} takes no more steps of its crew.`);
  }
  const last = steps.at(-1) ?? null;
  const when = occurredAt(given, last && last.occurredAt, context.clockMs);
  if (step === undefined) return when.ok ? invalid([{ field: 'step', rule: 'is required' }]) : when;
  if (steps.some((taken) => taken.step === step)) {
    return conflict('already_recorded', `The step ${step} was already recorded.`);
  }
  if (last && CREW_STEPS.indexOf(step) < CREW_STEPS.indexOf(last.step)) {
    return conflict('step_not_allowed', `The crew is already at ${last.step}, which comes after ${step}.`);
  }
  if (!when.ok) return when;
  const taken: CrewStepTaken = { step, occurredAt: when.timestamp, recordedAt: iso(context), by: context.by };
  return changed(tow, { steps: [...steps, taken] });
}

function setYard(tow: Tow, command: Command<'yard'>, context: DispatchContext): DispatchChange {
  const { yard } = command;
  const slot = command.slot ?? null;
  if (tow.state !== 'started' && tow.state !== 'detained') {
    return conflict('yard_not_allowed', `The vehicle of a tow that is ${tow.state} is in no yard.`);
  }
  const before = tow.dispatch.yard;
  if (before && before.yard === yard && before.slot === slot) {
    return conflict('already_recorded', 'The vehicle is already there.');
  }
  const place: YardPlace = { yard, slot, at: iso(context), by: context.by };
  return changed(tow, { yard: place });
}

function placeHold(tow: Tow, { holdId, reason }: Command<'hold'>, context: DispatchContext): DispatchChange {
  const { holds } = tow.dispatch;
  const same = openHolds(tow.dispatch).find((hold) => hold.reason === reason);
  if (same) return conflict('already_recorded', `The hold ${same.id} is open for the same reason.`);
  if (holds.length >= HOLDS_MAX) return conflict('too_many_holds', `A tow takes ${HOLDS_MAX} holds.`);
  return changed(tow, { holds: [...holds, { id: holdId, reason, at: iso(context), by: context.by, lifted: null }] });
}

function liftHold(tow: Tow, { holdId, reason }: Command<'lift'>, context: DispatchContext): DispatchChange {
  const { holds } = tow.dispatch;
  const hold = holds.find(({ id }) => id === holdId);
  if (!hold) return unknown('hold_not_found', 'There is no such hold on this tow.');
  if (hold.lifted) return conflict('already_recorded', 'The hold was already lifted.');
  const lifted: Hold = { ...hold, lifted: { reason, at: iso(context), by: context.by } };
  return changed(tow, { holds: holds.map((one) => (one === hold ? lifted : one)) });
}

function addNote(tow: Tow, { text }: Command<'note'>, context: DispatchContext): DispatchChange {
  const { notes } = tow.dispatch;
  if (notes.length >= NOTES_MAX) return conflict('too_many_notes', `A tow takes ${NOTES_MAX} notes.`);
  return changed(tow, { notes: [...notes, { text, at: iso(context), by: context.by }] });
}

function refusedWhenOver(tow: Tow) {
  return isTerminal(tow.state)
    ? conflict(
        'tow_is_over',
        `The tow is ${tow.state}: only notes, photos, the link to its violation and the lifting of holds are accepted.`,
      )
    : null;
}

function openHolds({ holds }: Dispatch): readonly Hold[] {
  return holds.filter(({ lifted }) => lifted === null);
}

function changed(tow: Tow, changes: Partial<Dispatch>): DispatchChange {
  return { ok: true, tow: { ...tow, dispatch: { ...tow.dispatch, ...changes } } };
}

function iso({ clockMs }: DispatchContext): string {
  return isoTimestamp(clockMs);
}
