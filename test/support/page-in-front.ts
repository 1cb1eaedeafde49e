import { forward, startProxy } from './proxy';

/** A proxy in front of the service that can answer with a page of its own. */
export interface PageInFront {
  /** The address to use in place of the service's. */
  readonly url: string;
  /** Answers every request with the page, status 200, and passes nothing on. */
  show(): void;
  /** Passes every request on again. */
  hide(): void;
  /** How many requests the page answered, by method and path. */
  answered(): readonly string[];
}

const PAGE = '<!doctype html><html><body><h1>Down for maintenance</h1></body></html>';

/** Starts a proxy that forwards every request until `show`. The proxy ends with the test. */
export async function servePages(serviceUrl: string): Promise<PageInFront> {
  const answered: string[] = [];
  let isShown = false;
  const url = await startProxy((incoming, response) => {
    if (!isShown) return forward(serviceUrl, [incoming, response]);
    answered.push(`${incoming.method} ${incoming.url}`);
    incoming.resume();
    incoming.on('end', () => response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE));
  });
  return {
    url,
    show: () => void (isShown = true),
    hide: () => void (isShown = false),
    answered: () => answered,
  };
}
