import { z } from 'zod';
import { accessToken } from './service/service';
import { storedObject } from '../domain/stored';

/** Replies of the Lua scripts; see their headers. */

/** The reply of reserve-permit.lua. */
export const permitReply = z.tuple([z.coerce.number(), z.coerce.number(), z.coerce.number()]);

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

/** The latest time that a Date can represent, ms since the epoch. */
const DATE_MAX_MS = 8_640_000_000_000_000;

/** The access token as cached in Redis. An invalid expiry counts as none. */
export const cachedToken = z.object({
  token: accessToken,
  /** Identifies the addresses and the client that it belongs to. Absent in those of earlier versions. */
  access: z.string().optional(),
  expiresAtMs: z
    .number()
    .nullable()
    .transform((ms) => (ms === null || Math.abs(ms) > DATE_MAX_MS ? null : ms)),
});
