import type { ViolationImage } from './violation';

/**
 * The operator's own records of a tow, which are never sent: assignment, steps of the crew, yard, holds, notes and photos. All
 * of them are optional.
 */
export interface Dispatch {
  readonly assignment: Assignment | null;
  /** Steps of the crew, in the order of their recording. */
  readonly steps: readonly CrewStepTaken[];
  readonly yard: YardPlace | null;
  /** Open and lifted holds, oldest first. */
  readonly holds: readonly Hold[];
  readonly notes: readonly Note[];
  readonly photos: readonly Photo[];
}

/** The steps of a crew until the vehicle is hooked up. */
export const CREW_STEPS = ['accepted', 'en_route', 'on_scene', 'hooked'] as const;
export type CrewStep = (typeof CREW_STEPS)[number];

export interface Assignment {
  readonly crew: string;
  readonly truck: string | null;
  readonly at: string;
  readonly by: string;
}

export interface CrewStepTaken {
  readonly step: CrewStep;
  readonly occurredAt: string;
  readonly recordedAt: string;
  readonly by: string;
}

export interface YardPlace {
  readonly yard: string;
  readonly slot: string | null;
  readonly at: string;
  readonly by: string;
}

/** While a hold is open, neither a payment nor a release can be recorded. */
export interface Hold {
  readonly id: string;
  readonly reason: string;
  readonly at: string;
  readonly by: string;
  readonly lifted: { readonly reason: string; readonly at: string; readonly by: string } | null;
}

export interface Note {
  readonly text: string;
  readonly at: string;
  readonly by: string;
}

/** A photo on the disk that console processes share. */
export interface Photo extends ViolationImage {
  readonly id: string;
  readonly at: string;
  readonly by: string;
}

export const NO_DISPATCH: Dispatch = { assignment: null, steps: [], yard: null, holds: [], notes: [], photos: [] };
