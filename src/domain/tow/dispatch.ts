import { z } from 'zod';
import { storedList, storedRecord } from '../stored';
import { violationImage } from '../violation/violation';

/**
 * The operator's own records of a tow, which are never sent: assignment, steps of the crew, yard, holds, notes and photos. All
 * of them are optional.
 */

/** The steps of a crew until the vehicle is hooked up. */
export const CREW_STEPS = ['accepted', 'en_route', 'on_scene', 'hooked'] as const;
export type CrewStep = (typeof CREW_STEPS)[number];

const attribution = { at: z.string(), by: z.string() };

export const assignment = storedRecord({ crew: z.string(), truck: z.string().nullable(), ...attribution });
export type Assignment = Readonly<z.output<typeof assignment>>;

const crewStep = storedRecord({
  step: z.enum(CREW_STEPS),
  occurredAt: z.string(),
  recordedAt: z.string(),
  by: z.string(),
});
export type CrewStepTaken = Readonly<z.output<typeof crewStep>>;

export const yardPlace = storedRecord({ yard: z.string(), slot: z.string().nullable(), ...attribution });
export type YardPlace = Readonly<z.output<typeof yardPlace>>;

export const liftedHold = storedRecord({ reason: z.string(), ...attribution });
/** While a hold is open, neither a payment nor a release can be recorded. */
export const hold = storedRecord({
  id: z.string(),
  reason: z.string(),
  ...attribution,
  lifted: liftedHold.nullable(),
});
export type Hold = Readonly<z.output<typeof hold>>;

export const note = storedRecord({ text: z.string(), ...attribution });
export type Note = Readonly<z.output<typeof note>>;

/** A photo on the disk that console processes share. */
export const photo = violationImage.extend({ id: z.string(), ...attribution });
export type Photo = Readonly<z.output<typeof photo>>;

export const storedDispatch = storedRecord({
  assignment: assignment.nullable(),
  /** Steps of the crew, in the order of their recording. */
  steps: storedList(crewStep),
  yard: yardPlace.nullable(),
  /** Open and lifted holds, oldest first. */
  holds: storedList(hold),
  notes: storedList(note),
  photos: storedList(photo),
});
export type Dispatch = Readonly<z.output<typeof storedDispatch>>;

export const NO_DISPATCH: Dispatch = { assignment: null, steps: [], yard: null, holds: [], notes: [], photos: [] };
