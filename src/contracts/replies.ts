import { z } from 'zod';
import { REPORT_KINDS } from '../domain/vocabulary';
import { jsonObject } from './common';

/** What the Lua scripts answer; their headers say when. */

export const createdKind = z.enum(['created', 'exists', 'late']);
export const parkedKind = z.enum(['parked', 'exists', 'late']);
export const retiredKind = z.enum(['retired', 'kept', 'gone']);
export const savedKind = z.enum(['saved', 'stale', 'unknown', 'remembered']);
export const acknowledgedKind = z.enum(['done', 'late', 'late_accepted', 'gone']);
export const claimKind = z.enum(['send', 'idle', 'held', 'gone', 'reconcile', 'wait', 'busy', 'hand_over', 'probe']);

/** What follows `send` in the reply of claim.lua. */
export const claimedReply = z.tuple([
  z.coerce.number(),
  z.string(),
  z.enum(REPORT_KINDS),
  z.string().transform((text) => jsonObject.parse(JSON.parse(text))),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
  z.coerce.number(),
]);

/** What follows `hand_over` in the reply of claim.lua. */
export const handOverReply = z.tuple([
  z.coerce.number(),
  z.string(),
  z.enum(REPORT_KINDS),
  z.enum(['unknown', 'given_up']),
  z.coerce.number(),
]);

/** The reply of walk-ledger.lua. */
export const walkReply = z.tuple([z.enum(['early', 'stepped', 'ended']), z.coerce.number()]);

/** The reply of reserve-slot.lua. */
export const slotReply = z.tuple([z.coerce.number(), z.coerce.number()]);

/** The shared access token, as cached in Redis. */
export const cachedToken = z.object({ token: z.string(), expiresAtMs: z.number().nullable() });
