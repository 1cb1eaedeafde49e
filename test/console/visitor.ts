import request from 'supertest';
import type { App } from '../support/app';

/** A browser without scripts: keeps cookies and submits the forms of the last page. Does not follow redirects. */
export interface Visitor {
  get(path: string, headers?: Readonly<Record<string, string>>): Promise<PageResponse>;
  /**
   * Submits a form of the last page with its form token and a new form key. Adds the hidden fields of the form if exactly
   * one form of the page posts to this path.
   */
  post(path: string, fields?: Readonly<Record<string, string>> | URLSearchParams): Promise<PageResponse>;
  /** Posts a form body unchanged: adds no token, no key and no hidden field. */
  postRaw(path: string, body: string, headers?: Readonly<Record<string, string>>): Promise<PageResponse>;
  /** Posts a multipart form with its files in the field `images`; adds no token, no key and no hidden field. */
  postMultipart(path: string, form: MultipartForm): Promise<PageResponse>;
  readonly cookies: Cookies;
}

export interface PageResponse extends Pick<request.Response, 'status' | 'get'> {
  readonly html: string;
  /** Target of a redirect; null for any other response. */
  readonly location: string | null;
}

export interface MultipartForm {
  readonly fields: Readonly<Record<string, string>>;
  readonly files?: readonly { readonly name: string; readonly bytes: Buffer }[];
  readonly headers?: Readonly<Record<string, string>>;
}

/** The cookies of a visitor, by name. */
interface Cookies {
  get(name: string): string | undefined;
  values(): string[];
  set(name: string, value: string): void;
  clear(): void;
}

/** A visitor without a session. */
export function signedOutVisitor({ consoleUrl }: Pick<App, 'consoleUrl'>): Visitor {
  const { hostname } = new URL(consoleUrl);
  const everyCookie = { domain: hostname, path: '/', secure: true, script: false };
  let agent = request.agent(consoleUrl);
  let token = '';
  let page = '';
  let forms = 0;
  const load = async (call: request.Test): Promise<PageResponse> => {
    const response = await call;
    // The agent's cookie jar ignores Max-Age, which is how the console removes a cookie.
    for (const line of response.get('Set-Cookie') ?? []) {
      const [, name] = /^([^=]+)=.*; Max-Age=0\b/i.exec(line) ?? [];
      if (name !== undefined) agent.jar.setCookie(`${name}=; Path=/; Expires=${new Date(0).toUTCString()}`, hostname);
    }
    // Superagent gives no text for images.
    const html = response.type.startsWith('image/') ? '' : response.text;
    if (html !== '') page = html;
    token = /name="form_token" value="([^"]+)"/.exec(html)?.[1] ?? token;
    return {
      status: response.status,
      html,
      get: response.get.bind(response),
      location: response.get('location') ?? null,
    };
  };
  const postRaw = (path: string, body: string, headers: Readonly<Record<string, string>> = {}) =>
    load(
      agent
        .post(path)
        .set({
          accept: 'text/html',
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          ...headers,
        })
        .send(body),
    );
  return {
    cookies: {
      get: (name) => agent.jar.getCookie(name, everyCookie)?.value,
      values: () => agent.jar.getCookies(everyCookie).map(({ value }) => value),
      set: (name, value) => {
        agent.jar.setCookie(`${name}=${value}; Path=/`, hostname);
      },
      clear: () => {
        agent = request.agent(consoleUrl);
      },
    },
    get: (path, headers = {}) => load(agent.get(path).set({ accept: 'text/html', ...headers })),
    postRaw,
    post(path, fields = {}) {
      forms += 1;
      const form = new URLSearchParams({ form_token: token, form_key: `form-${forms}-${token.slice(0, 12)}` });
      const given = [...(fields instanceof URLSearchParams ? fields : Object.entries(fields))];
      const isGiven = (name: string) => form.has(name) || given.some(([other]) => other === name);
      const hidden = hiddenFields(page, path).filter(([name]) => !isGiven(name));
      for (const [name, value] of [...hidden, ...given]) form.append(name, value);
      return postRaw(path, form.toString());
    },
    postMultipart(path, { fields, files = [], headers = {} }) {
      const call = agent.post(path).set({ accept: 'text/html', ...headers });
      for (const [name, value] of Object.entries(fields)) void call.field(name, value);
      for (const { name, bytes } of files) void call.attach('images', bytes, { filename: name });
      return load(call);
    },
  };
}

/** The hidden fields of the form of a page that posts to this path; empty if no form or more than one does. */
function hiddenFields(html: string, path: string): [string, string][] {
  const forms = html.split('<form ').filter((form) => unescaped(/ action="([^"]*)"/.exec(form)?.[1] ?? '') === path);
  const [form = ''] = forms.length === 1 ? forms : [];
  const inputs = form
    .slice(0, form.indexOf('</form>'))
    .matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return [...inputs].map(([, name = '', value = '']) => [unescaped(name), unescaped(value)]);
}

/** A visitor with the session of an API key; the bootstrap key (role `ops`) by default. */
export async function signedIn(app: Pick<App, 'consoleUrl' | 'apiKey'>, key = app.apiKey): Promise<Visitor> {
  const visitor = signedOutVisitor(app);
  const { status, html } = await visitor.post('/sign-in', { key, next: '/shortcuts' });
  if (status !== 303) throw new Error(`sign-in returned ${status}: ${html}`);
  await visitor.get('/shortcuts');
  return visitor;
}

/** The visible text of a page: without tags, with entities decoded. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<(script|style)\b[^]*?<\/\1>/g, ' ')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#39|amp);/g, unescaped)
    .replaceAll(/\s+/g, ' ')
    .trim();
}

/** Decodes HTML entities. */
function unescaped(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');
}
