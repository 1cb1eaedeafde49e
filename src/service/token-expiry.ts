import type { StoredToken } from '../workflow/service-port';

/** A token and the moment this process first saw it. */
export interface KnownToken extends StoredToken {
  readonly seenAtMs: number;
}

/**
 * How long before its end a token is renewed.
 * Open question Q8: the lifetime of a token is not documented; a readable `exp` is believed, else the first 401 tells.
 */
const EARLY_MS = 60_000;
/** No service means a token to last for longer; such an end is in another unit, or nonsense. */
const LASTS_MAX_MS = 365 * 86_400_000;

/**
 * A token fresh from the service, with its end if it is a readable JWT (field notes, "Services of this kind"). A fresh
 * token that is over by our clock means that the clocks disagree: its end then says nothing, and only a 401 ends it. So
 * does one that lasts for more than a year.
 * Null when the token cannot travel in a header.
 */
export function freshToken(token: string, nowMs: number): StoredToken | null {
  if (!/^[\x21-\x7e]+$/.test(token)) return null;
  const expiresAtMs = jwtExpiresAtMs(token);
  const isSane = expiresAtMs !== null && expiresAtMs > nowMs && expiresAtMs <= nowMs + LASTS_MAX_MS;
  return { token, expiresAtMs: isSane ? expiresAtMs : null };
}

/** True once a token has ended, if it tells. */
export function isOver(token: StoredToken, nowMs: number): boolean {
  return token.expiresAtMs !== null && token.expiresAtMs <= nowMs;
}

/**
 * True when a token that still works should be replaced: a minute before its end, but never before half of what was left
 * when this process first saw it, so that a token of a few seconds is not renewed with every call.
 */
export function isDueEarly(token: KnownToken, nowMs: number): boolean {
  if (token.expiresAtMs === null) return false;
  return nowMs >= token.expiresAtMs - Math.min(EARLY_MS, (token.expiresAtMs - token.seenAtMs) / 2);
}

/** The `exp` of a JWT, ms since the epoch; null when the text is no readable JWT. The signature is not ours to check. */
function jwtExpiresAtMs(token: string): number | null {
  const payload = token.split('.')[1];
  if (payload === undefined) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'));
    if (typeof claims !== 'object' || claims === null || !('exp' in claims)) return null;
    return typeof claims.exp === 'number' && Number.isFinite(claims.exp) ? claims.exp * 1000 : null;
  } catch {
    return null;
  }
}
