import { createHash } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type Request } from 'express';
import * as fc from 'fast-check';
import { createSessions } from '../../../src/console';
import { queryIn, previousPage, isSameOrigin, safePath } from '../../../src/console/requests';
import { bodyOf, withRiyadhOffset } from '../../../src/console/forms';
import { isFormOf } from '../../../src/console/sessions';
import { THEMES, viewerOf } from '../../../src/console/viewer';
import { LANGUAGES } from '../../../src/console/messages';
import { systemClock } from '../../../src/platform/clock';
import { edited, editedText, perhapsEdits, type Edit } from '../bytes';
import { hostileText } from '../hostile';
import { judgePage } from '../judge';
import { KNOWN_TOWS } from '../product';
import { createTarget } from '../target';

/** The console's cookies, its form token and its forms. */

interface CookieInput {
  readonly path: string;
  /** Null for a page that is only read. */
  readonly form: readonly (readonly [name: string, value: string])[] | null;
  /** Placeholders for the session and the token, and the edits of the result. */
  readonly cookie: string;
  readonly cookieEdits: readonly Edit[];
  readonly formEdits: readonly Edit[];
  readonly headers: Readonly<Record<string, string>>;
}

const SESSION = '(session)';
const TOKEN = '(token)';

const cookies = fc.constantFrom(
  `towhook_session=${SESSION}`,
  `a=b; towhook_session=${SESSION}; towhook_language=ar`,
  `towhook_session="${SESSION}"`,
  `towhook_session=; towhook_session=${SESSION}`,
  `__Host-towhook_session=${SESSION}`,
  `towhook_done=__proto__; towhook_language=constructor; towhook_theme=%E0%A4%A; towhook_session=${SESSION}`,
  `towhook_session=%00%ff; =; ;;=x`,
  `${'x=y; '.repeat(300)}towhook_session=${SESSION}`,
  '',
);

const pages = [
  '/board',
  '/tasks',
  '/violations',
  '/violations/new',
  '/shortcuts',
  '/ops',
  '/ops/deliveries',
  '/ops/keys',
  '/ops/audit',
  '/sign-in',
  '/runs',
  '/lookups',
];
const tow = KNOWN_TOWS[0] ?? '';
const forms = [
  ['/preferences', '/sign-in', '/board/live', '/board/assign', '/tasks', '/tasks/live', '/lookups', '/ops/keys'],
  [`/tows/${tow}/notes`, `/tows/${tow}/started`, `/tows/${tow}/assignment`, `/tows/${tow}/holds`],
].flat();
const fieldNames = [
  'form_token',
  'form_key',
  'question',
  'next',
  'key',
  'text',
  'plate_number',
  'latitude',
  'occurred_at',
  'language',
  'theme',
  'crew',
  'reason',
  'name',
  'role',
  'rows',
  'since',
];

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  fc
    .tuple(fc.constantFrom('q', 'cursor', 'next', 'state', 'order', 'tab', 'page'), hostileText)
    .map(([name, value]) => `?${new URLSearchParams([[name, value]]).toString()}`),
);

const fields = fc
  .array(
    fc.tuple(
      fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...fieldNames) }, hostileText),
      fc.oneof(hostileText, fc.constantFrom('24,7', '2026-11-21T09:14', 'ar', '-0', '1e999')),
    ),
    { maxLength: 6 },
  )
  .map((pairs) => [['form_token', TOKEN] as const, ...pairs]);

const inputs: fc.Arbitrary<CookieInput> = fc
  .record({
    path: fc.constant(''),
    form: fc.option(fields, { freq: 2 }),
    cookie: cookies,
    cookieEdits: fc.oneof({ weight: 2, arbitrary: fc.constant<readonly Edit[]>([]) }, perhapsEdits),
    formEdits: fc.oneof({ weight: 2, arbitrary: fc.constant<readonly Edit[]>([]) }, perhapsEdits),
    headers: fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      fc
        .tuple(
          fc.constantFrom(
            'x-forwarded-proto',
            'origin',
            'referer',
            'sec-fetch-site',
            'accept-language',
            'hx-request',
            'content-type',
          ),
          hostileText,
        )
        .map(([name, value]) => ({ [name]: value })),
    ),
  })
  .chain((input) =>
    fc
      .tuple(fc.constantFrom(...(input.form === null ? pages : forms)), query)
      .map(([path, search]) => ({ ...input, path: `${path}${search}` })),
  );

const ID = 'session-of-the-fuzzer-0123456789';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const stored = { keyHash: 'key', createdAt: new Date(systemClock.nowMs()).toISOString() };
const read = (idHash: string) => Promise.resolve(idHash === sha256(ID) ? stored : null);
const nothing = () => Promise.resolve();
const sessions = createSessions({
  store: { begin: nothing, read, prolong: read, end: nothing, list: nothing, endAll: nothing },
  signIn: { holderOf: () => Promise.resolve({ id: 'fuzz', name: 'fuzz', role: 'viewer' }) },
  clock: systemClock,
});
const visitor = {
  actor: { id: 'fuzz', name: 'fuzz', role: 'viewer' } as const,
  formToken: sha256(`form ${ID}`),
};

const app = express();
const readers = new WeakMap<IncomingMessage, (request: Request) => void>();
app.use((request) => readers.get(request)?.(request));

/** The values that the console reads from a request of Express. */
function asExpress<T>(
  { url, headers }: { url: string; headers: Readonly<Record<string, string>> },
  read: (request: Request) => Promise<T>,
): Promise<T> {
  const message = Object.assign(new IncomingMessage(new Socket()), { url, method: 'GET' });
  Object.assign(message.headers, headers);
  return new Promise((resolve, reject) => {
    readers.set(message, (request) => {
      read(request).then(resolve, reject);
    });
    app(message, new ServerResponse(message));
  });
}

/** True for an address outside the console. */
function leadsAway(address: string): boolean {
  return new URL(address, 'https://console.test').origin !== 'https://console.test';
}

function cookieOf({ cookie, cookieEdits }: CookieInput, session: string): string {
  return editedText(cookie.replaceAll(SESSION, session), cookieEdits);
}

function formOf({ form, formEdits }: CookieInput, token: string): Buffer {
  const search = new URLSearchParams();
  for (const [name, value] of form ?? []) search.append(name, value.replaceAll(TOKEN, token));
  return edited(Buffer.from(search.toString()), formEdits);
}

export const cookieTarget = createTarget<CookieInput>({
  name: 'cookie',
  share: 0.1,
  inputs,
  async direct(input) {
    const cookie = cookieOf(input, ID);
    const seen = await asExpress({ url: input.path, headers: { ...input.headers, cookie } }, async (request) => {
      const actor = (await sessions.visitorOf(request))?.actor ?? null;
      const { language, theme } = viewerOf(request, null, systemClock);
      return { actor, language, theme, back: previousPage(request), isSameOrigin: isSameOrigin(request) };
    });
    if (seen.actor !== null && !percentDecoded(cookie).includes(ID)) return 'a cookie without the session opens it';
    if (!LANGUAGES.includes(seen.language) || !THEMES.includes(seen.theme))
      return 'a page has an unknown language or theme';
    if (leadsAway(seen.back)) return `a page leads back to ${seen.back}`;
    const form = new URLSearchParams(formOf(input, visitor.formToken).toString());
    const token = form.get('form_token') ?? '';
    if (isFormOf(visitor, token) !== (token === visitor.formToken)) return 'a form token is taken for another';
    const body = bodyOf(form, { numbers: ['latitude'], timestamps: ['occurred_at'] });
    if (Object.getPrototypeOf(body) !== Object.prototype) return 'a form has changed the prototype of its fields';
    withRiyadhOffset(form.get('occurred_at') ?? '');
    const next = safePath(form.get('next'));
    queryIn(input.path);
    return leadsAway(next) ? `a form leads away to ${next}` : null;
  },
  async send(input, { consoleUrl, session, http }, again) {
    const { path, form, headers } = input;
    const response = await http.send(consoleUrl, {
      method: form === null ? 'GET' : 'POST',
      path,
      headers: {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        ...headers,
        cookie: cookieOf(input, session.cookie),
        ...(again === 0 ? {} : { 'x-again': String(again) }),
      },
      body: form === null ? Buffer.alloc(0) : formOf(input, session.formToken),
    });
    return judgePage(response);
  },
});

function percentDecoded(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
