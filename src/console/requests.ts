import type { IncomingHttpHeaders } from 'node:http';
import type { Request } from 'express';

/** What the headers of a request tell about it. */

/** True when only a part of a page is asked for: by the page itself, while it stands in the browser. */
export function wantsPart(headers: IncomingHttpHeaders): boolean {
  return headers['hx-request'] === 'true' && headers['hx-boosted'] === undefined;
}

/**
 * True when the browser speaks TLS, by the X-Forwarded-Proto of a trusted proxy. Of several proxies each adds what it was
 * reached by: the first is the browser's. Without TRUST_PROXY anybody's is believed: it only makes a cookie stricter.
 */
export function isOverTls({ app, secure, headers }: Request): boolean {
  if (app.enabled('trust proxy')) return secure;
  const [first = ''] = [headers['x-forwarded-proto'] ?? ''].flat().join(',').split(',');
  return first.trim().toLowerCase() === 'https';
}

/** Browsers say where a form comes from; what says nothing is no browser and has no session to lose. */
export function isFromHere(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = request.get('origin');
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.get('host'));
}

/** A page of ours and nothing else: a whole address would lead whoever signs in away. */
export function nextOf(next: string | null): string {
  return next !== null && /^\/(?![/\\])[^\s\\]*$/.test(next) && !next.startsWith('/sign-in') ? next : '/board';
}

/** The page a form stood on; the board where the browser does not say. */
export function backOf(request: Request): string {
  const referer = request.get('referer');
  if (referer === undefined || !URL.canParse(referer)) return '/board';
  const { pathname, search } = new URL(referer);
  return nextOf(`${pathname}${search}`);
}
