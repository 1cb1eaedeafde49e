import type { IncomingHttpHeaders } from 'node:http';
import type { Request, Response, RequestHandler } from 'express';

export interface HttpExchange {
  readonly request: Request;
  readonly response: Response;
}

/** True for a request of a part of a page by htmx. */
export function wantsPart(headers: IncomingHttpHeaders): boolean {
  return headers['hx-request'] === 'true' && headers['hx-boosted'] === undefined;
}

/**
 * True if the browser uses TLS, by X-Forwarded-Proto of a trusted proxy; of several proxies the first value counts.
 * Without TRUST_PROXY any value is believed, because it only makes a cookie stricter.
 */
export function isOverTls({ app, secure, headers }: Request): boolean {
  if (app.enabled('trust proxy')) return secure;
  const [first = ''] = [headers['x-forwarded-proto'] ?? ''].flat().join(',').split(',');
  return first.trim().toLowerCase() === 'https';
}

/**
 * True for forms sent from this origin. Requests without Origin and Sec-Fetch-Site come from no browser and have no
 * session to protect.
 */
export function isSameOrigin(request: Request): boolean {
  const site = request.get('sec-fetch-site');
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  const origin = request.get('origin');
  return origin === undefined || (URL.canParse(origin) && new URL(origin).host === request.get('host'));
}

/** A path of this server, never a full URL: it could lead to another site after signing in. The board otherwise. */
export function safePath(next: string | null): string {
  return next !== null && isSafePath(next) ? next : '/board';
}

/** True for paths of this server beyond the sign-in. */
export function isSafePath(path: string): boolean {
  return /^\/(?![/\\])[^\s\\]*$/.test(path) && !path.startsWith('/sign-in');
}

/** The page that contained the form; the board without a referrer. */
export function previousPage(request: Request): string {
  const referer = request.get('referer');
  if (referer === undefined || !URL.canParse(referer)) return '/board';
  const { pathname, search } = new URL(referer);
  return safePath(`${pathname}${search}`);
}

/** The query of an address; tolerates addresses that are otherwise invalid. */
export function queryIn(address: string): URLSearchParams {
  const [whole = ''] = address.split('#', 1);
  const mark = whole.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : whole.slice(mark));
}

/** The query of an address that leads to `path`; empty for other addresses. */
export function queryOfPath(path: string, address: string): URLSearchParams {
  const [own = ''] = address.split(/[?#]/, 1);
  return own === path ? queryIn(address) : new URLSearchParams();
}

/** Attributes whose value is an address of the console. */
const ADDRESSES = /(?<= (?:href|src|action|formaction|hx-get|hx-post|data-live)=")\/(?![/\\])/g;
/** Headers that lead a browser or htmx elsewhere. */
const HEADERS = ['location', 'hx-redirect'];

/**
 * Serves the console below the path of its public address, such as `/towhook`. Pages know nothing of the path: it is
 * removed from what the browser asks for, and put before every address of an answer, in its HTML (all text in it is
 * escaped) and in redirects. A proxy may remove the path itself, so addresses without it are served too.
 */
export function servePublicPath(path: string): RequestHandler {
  const withoutPath = (address: string) => {
    if (!address.startsWith(path) || !/^(?:[/?#]|$)/.test(address.slice(path.length))) return address;
    return address.slice(path.length).replace(/^(?!\/)/, '/');
  };
  const withPath = (address: string) => (/^\/(?![/\\])/.test(address) ? `${path}${address}` : address);
  return (request, response, next) => {
    request.url = withoutPath(request.url);
    request.originalUrl = request.url;
    const { referer } = request.headers;
    if (referer !== undefined && URL.canParse(referer)) {
      const { origin, pathname, search } = new URL(referer);
      request.headers.referer = `${origin}${withoutPath(pathname)}${search}`;
    }
    const setHeader = response.setHeader.bind(response);
    response.setHeader = (name, value) =>
      setHeader(name, typeof value === 'string' && HEADERS.includes(name.toLowerCase()) ? withPath(value) : value);
    const send = response.send.bind(response);
    response.send = (body: unknown) => {
      // Express sends text without a type as HTML.
      const isHtml = /^text\/html\b/.test(response.get('content-type') ?? 'text/html');
      return send(typeof body === 'string' && isHtml ? body.replace(ADDRESSES, `${path}/`) : body);
    };
    next();
  };
}
