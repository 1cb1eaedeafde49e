import type { BrowserContext, ConsoleMessage, Request } from 'playwright-core';

/** A failed request that a test expects of its page. */
export interface Announcement {
  /** The path without its query, or a pattern for path and query. */
  readonly path: string | RegExp;
  /** The response status, or `no answer` for a request without a response. */
  readonly status: number | 'no answer';
}

/** Collects the faults of the pages of one context. */
export interface Guards {
  announce(announcement: Announcement): void;
  /** Returns the faults as sentences, and announced failures that did not happen. Call it after the context is closed. */
  faults(): readonly string[];
}

const LOCAL_HOST = '127.0.0.1';
const NEVER_LEAVE = ['data:', 'blob:', 'about:', 'chrome-error:'];
const CONSOLE_FAULTS: readonly string[] = ['error', 'warning', 'assert'];
/** Chromium also logs each failed request to the console; the request itself is checked instead. */
const ECHO = /^Failed to load resource: /;
/** htmx does too, with the path alone. */
const HTMX_ECHO = /^Response Status Error Code \d+ from ([^\s,]+)/;
/** htmx logs these for a request without a response, without its address. */
const HTMX_UNANSWERED = /^htmx:(sendError|afterRequest), /;
/** A live page goes on sending requests while its test keeps it offline by `setOffline`. The network itself is local. */
const OFFLINE = 'net::ERR_INTERNET_DISCONNECTED';
/** Chromium requests this at any time for a document that names no icon, such as JSON or an image. */
const UNASKED = '/favicon.ico';

interface Announced extends Announcement {
  isMet: boolean;
}

/** Watches every page of a context, including popups, from its first request on. */
export function watch(context: BrowserContext): Guards {
  const announced: Announced[] = [];
  const faults: string[] = [];
  const echoes: { text: string; url: string }[] = [];
  const judged = new Set<string>();
  const unanswered: string[] = [];
  let wasOffline = false;

  const judge = (url: string, status: Announcement['status'], fault: string) => {
    judged.add(url);
    const fitting = announced.filter((one) => one.status === status && isAt(url, one.path));
    for (const one of fitting) one.isMet = true;
    if (fitting.length === 0) faults.push(fault);
  };

  context.on('console', (message) => {
    const echo = echoIn(message);
    if (echo !== null) {
      if (!isAt(echo.url, UNASKED)) echoes.push(echo);
    } else if (HTMX_UNANSWERED.test(message.text())) unanswered.push(faultIn(message));
    else if (CONSOLE_FAULTS.includes(message.type())) faults.push(faultIn(message));
  });
  context.on('weberror', (error) => faults.push(`page error: ${error.error().stack ?? error.error().message}`));
  context.on('dialog', (dialog) => {
    faults.push(`a dialog (${dialog.type()}) opened: ${dialog.message()}`);
    // The dialog may be closed already because its page closes.
    void dialog.dismiss().catch(() => {});
  });
  context.on('request', (request) => {
    if (isOutside(request.url())) faults.push(`a request outside: ${lineOf(request)}`);
  });
  context.on('page', (page) => {
    page.on('websocket', (socket) => {
      if (isOutside(socket.url())) faults.push(`a request outside: ${socket.url()}`);
    });
  });
  context.on('response', (response) => {
    const status = response.status();
    if (status >= 400) judge(response.url(), status, `${lineOf(response.request())} was answered ${status}`);
  });
  context.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText ?? 'unknown';
    // The page navigated or canceled the request, as a live page does with its stream.
    if (reason === 'net::ERR_ABORTED') return;
    if (reason === OFFLINE) {
      wasOffline = true;
      judged.add(request.url());
      return;
    }
    judge(request.url(), 'no answer', `${lineOf(request)} failed: ${reason}`);
  });

  return {
    announce: (announcement) => announced.push({ ...announcement, isMet: false }),
    faults: () => [
      ...faults,
      ...(wasOffline ? [] : unanswered),
      ...echoes.filter(({ url }) => !judged.has(url)).map(({ text, url }) => `console error: ${text} (${url})`),
      ...announced
        .filter(({ isMet }) => !isMet)
        .map(({ path, status }) => `announced and did not happen: ${String(path)} ${status}`),
    ],
  };
}

function echoIn(message: ConsoleMessage): { text: string; url: string } | null {
  const [text, { url }] = [message.text(), message.location()];
  if (ECHO.test(text)) return { text, url };
  const path = HTMX_ECHO.exec(text)?.[1];
  return path === undefined ? null : { text, url: new URL(path, url).href };
}

function faultIn(message: ConsoleMessage): string {
  const isPolicy = message.text().includes('Content Security Policy');
  const kind = isPolicy ? 'Content-Security-Policy violation' : `console ${message.type()}`;
  return `${kind}: ${message.text()} (${message.location().url})`;
}

function isOutside(address: string): boolean {
  const { protocol, hostname } = new URL(address);
  return !NEVER_LEAVE.includes(protocol) && hostname !== LOCAL_HOST;
}

function isAt(address: string, path: Announcement['path']): boolean {
  if (!URL.canParse(address)) return false;
  const { pathname, search } = new URL(address);
  return typeof path === 'string' ? pathname === path : path.test(`${pathname}${search}`);
}

function lineOf(request: Request): string {
  return `${request.method()} ${request.url()}`;
}
