import { z } from 'zod';
import { accessToken } from './service';
import { storedObject } from './stored';

/** What the Lua scripts answer; their headers say when. */

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
