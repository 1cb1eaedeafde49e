import type { RequestHandler } from 'express';

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
