import { z } from 'zod';
import { REPORT_KINDS } from '../domain/vocabulary';
import { accessToken } from './service';
import { counter, momentMs, storedObject } from './stored';

/** What the Lua scripts answer; their headers say when. */

export const createdKind = z.enum(['created', 'exists', 'found', 'late', 'settled_before']);
export const parkedKind = z.enum(['parked', 'exists', 'late', 'settled_before']);
export const joinedKind = z.enum(['joined', 'taken', 'gone']);
export const linkedKind = z.enum(['linked', 'gone']);
export const listedKind = z.enum(['listed', 'stale', 'gone']);
export const retiredKind = z.enum(['retired', 'kept', 'gone']);
export const savedKind = z.enum(['saved', 'stale', 'unknown', 'remembered']);
export const acknowledgedKind = z.enum(['done', 'late', 'late_accepted', 'gone']);
export const claimKind = z.enum(['send', 'idle', 'held', 'gone', 'reconcile', 'wait', 'busy', 'hand_over', 'probe']);

/** What follows `send` in the reply of claim.lua. */
export const claimedReply = z.tuple([
  z.coerce.number(),
  z.string(),
  z.enum(REPORT_KINDS),
  z.string().transform((text) => storedObject.parse(JSON.parse(text))),
  z.coerce.number(),
  z.coerce.number(),
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

export const violationClaimKind = z.enum([
  'send',
  'check',
  'finish',
  'idle',
  'held',
  'gone',
  'wait',
  'busy',
  'hand_over',
  'probe',
  'token_first',
]);

/** What the attempts of a violation came to so far, from the fields of its hash. */
export const violationCounts = z
  .object({
    failures: counter.default(0),
    not_found: counter.default(0),
    unanswered: counter.default(0),
    connection_losses: counter.default(0),
    slot_at: momentMs,
  })
  .transform((stored) => ({
    failures: stored.failures,
    notFound: stored.not_found,
    unanswered: stored.unanswered,
    connectionLosses: stored.connection_losses,
    permitAtMs: stored.slot_at ?? 0,
  }));

/** What follows `hand_over` in the reply of claim-violation.lua. */
export const violationHandOver = z.tuple([
  z.enum(['unknown', 'given_up', 'unchecked']),
  z.coerce.number(),
  z.coerce.number(),
]);

/** The reply of walk-ledger.lua. */
export const walkReply = z.tuple([z.enum(['early', 'stepped', 'ended']), z.coerce.number()]);

/** The reply of reserve-slot.lua. */
export const slotReply = z.tuple([z.coerce.number(), z.coerce.number()]);

/** The reply of look-up.lua. */
export const lookUpReply = z.union([
  z
    .tuple([
      z.literal('answer'),
      z.string().transform((text) => storedObject.parse(JSON.parse(text))),
      z.coerce.number(),
    ])
    .transform(([kind, data, checkedAtMs]) => ({ kind, answer: { data, checkedAtMs } })),
  z.tuple([z.literal('ask')]).transform(([kind]) => ({ kind })),
  z.tuple([z.literal('wait'), z.string()]).transform(([kind, asker]) => ({ kind, asker })),
]);

/** The last moment that a Date can hold, ms since the epoch. */
const DATE_MAX_MS = 8_640_000_000_000_000;

/** The shared access token, as cached in Redis; an end that is no date is none. */
export const cachedToken = z.object({
  token: accessToken,
  expiresAtMs: z
    .number()
    .nullable()
    .transform((ms) => (ms === null || Math.abs(ms) > DATE_MAX_MS ? null : ms)),
});
