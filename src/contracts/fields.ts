import { z } from 'zod';

/** Fields that several bodies of the operator API share. */

/** Trimmed text that is not empty. */
export const text = (max: number) =>
  z.string().trim().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

/** Why a person did something; for the audit, never sent to the service. */
export const reason = text(500);

export const latitude = z.number().min(-90).max(90);
export const longitude = z.number().min(-180).max(180);
