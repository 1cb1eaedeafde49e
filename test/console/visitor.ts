import { parseSetCookie } from 'cookie';
import type { App } from '../support/app';

/** A browser without scripts: keeps cookies, follows the links and sends the forms it is told to. */
export interface Visitor {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<Shown>;
  /**
   * Sends a form of the page that was last looked at, with its token and a key of its own, and with all else that is hidden
   * in it where one form alone is sent there.
   */
  post(path: string, fields?: Readonly<Record<string, string>> | URLSearchParams): Promise<Shown>;
  /** Sends exactly this, as somebody would who made up the form. */
  postRaw(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<Shown>;
  readonly cookies: Map<string, string>;
}

export interface Shown {
  readonly status: number;
  readonly html: string;
  readonly headers: Headers;
  /** Where a redirect leads, null when it is none. */
  readonly location: string | null;
}

/** Somebody who has not signed in. */
export function stranger({ consoleUrl }: Pick<App, 'consoleUrl'>): Visitor {
  const cookies = new Map<string, string>();
  let token = '';
  let page = '';
  let forms = 0;
  const ask = async (path: string, init: { method?: string; body?: string; headers?: Record<string, string> } = {}) => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(`${consoleUrl}${path}`, {
      ...init,
      redirect: 'manual',
      headers: { accept: 'text/html', ...(cookie === '' ? {} : { cookie }), ...init.headers },
    });
    for (const line of response.headers.getSetCookie()) {
      const { name, value, maxAge } = parseSetCookie(line);
      if (maxAge === 0 || value === undefined || value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const html = await response.text();
    if (html !== '') page = html;
    token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? token;
    return { status: response.status, html, headers: response.headers, location: response.headers.get('location') };
  };
  const postRaw = (path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
    ask(path, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin', ...headers },
    });
  return {
    cookies,
    get: (path, headers = {}) => ask(path, { headers: { ...headers } }),
    postRaw,
    post(path, fields = {}) {
      forms += 1;
      const form = new URLSearchParams({ form_token: token, form_key: `form-${forms}-${token.slice(0, 12)}` });
      const given = [...(fields instanceof URLSearchParams ? fields : Object.entries(fields))];
      const isGiven = (name: string) => form.has(name) || given.some(([other]) => other === name);
      const hidden = hiddenIn(page, path).filter(([name]) => !isGiven(name));
      for (const [name, value] of [...hidden, ...given]) form.append(name, value);
      return postRaw(path, form.toString());
    },
  };
}

/** What is hidden in the form of a page that is sent to this address; nothing when there is none, or more than one. */
function hiddenIn(html: string, path: string): [string, string][] {
  const forms = html.split('<form ').filter((form) => unescaped(/ action="([^"]*)"/.exec(form)?.[1] ?? '') === path);
  const [form = ''] = forms.length === 1 ? forms : [];
  const inputs = form
    .slice(0, form.indexOf('</form>'))
    .matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return [...inputs].map(([, name = '', value = '']) => [unescaped(name), unescaped(value)]);
}

/** Somebody who has signed in with a key; the bootstrap key (ops) when left out. */
export async function signedIn(app: Pick<App, 'consoleUrl' | 'apiKey'>, key = app.apiKey): Promise<Visitor> {
  const visitor = stranger(app);
  const { status, html } = await visitor.post('/sign-in', { key, next: '/shortcuts' });
  if (status !== 303) throw new Error(`signing in was answered ${status}: ${html}`);
  await visitor.get('/shortcuts');
  return visitor;
}

/** The words of a page as somebody reads them: no tags, entities as what they stand for. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<(script|style)\b[^]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, unescaped)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** What entities stand for. */
function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
