import { z } from 'zod';
import type { Role } from '../../src/domain/vocabulary';
import { run } from '../cli/command';
import { newSecret, signed } from '../receiver/calls';
import { enveloped, json, startFakeService, type FakeReply, type Recorded } from '../service/fake-service';
import { startApp, type AppOptions } from '../support/app';
import { eventually } from '../support/eventually';
import { Recording } from './recording';

/** An installation as it is seen from outside: by the service, by programs and people, and by what it asks of the service. */

export const VIOLATION = 'V-20241120-K7P2QX';
const CHARGE = { total_amount: 115, paid_amount: 0, tax: 15 };
const SECRET = newSecret();

const named = z.looseObject({ towing_reference_id: z.string().optional(), zoneId: z.string().optional() });

/** The id that a form of a violation has in its metadata. */
const metadataId = (sent: unknown) =>
  z.object({ id: z.string() }).parse(JSON.parse(z.object({ metadata: z.string() }).parse(sent).metadata)).id;

/** How a service answers that follows its document (docs/service-api.md#operations). */
function documented(call: Recorded, sent: unknown): FakeReply {
  if (call.url.includes('/violations/')) {
    return enveloped({ violation_reference_id: VIOLATION, status: 'PENDING', metadata: { id: metadataId(sent) } });
  }
  if (call.url.includes('/site-capacity')) return enveloped({ zoneId: call.url.split('=')[1], availableSlots: 3 });
  if (call.url.includes('/active-ticket')) return enveloped({ hasActiveTicket: true });
  const tow = { towing_reference_id: named.parse(sent).towing_reference_id, metadata: { id: 'case-77' } };
  return enveloped(call.url.endsWith('/invoice') ? { ...tow, towing_invoice: CHARGE, delay_invoice: CHARGE } : tow);
}

/** The body of a call: JSON, or the fields of a form with the names of its files. */
async function sentIn({ headers, body }: Recorded): Promise<unknown> {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1] ?? '';
  if (body.length === 0) return {};
  if (!type.startsWith('multipart/')) return JSON.parse(body.toString());
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData();
  return Object.fromEntries(
    [...form].map(([name, part]) => [name, typeof part === 'string' ? part : `<${part.name}>`]),
  );
}

interface Call {
  readonly as?: Role | 'a caller without a key' | 'a wrong key';
  readonly body?: unknown;
  readonly form?: FormData;
  readonly headers?: Readonly<Record<string, string>>;
  /** Replaces each value by `…`: what it counts depends on the moment. */
  readonly shapeOnly?: boolean;
}

interface Webhook {
  /** Of its signature; null sends none. */
  readonly id?: string | null;
  readonly secret?: string;
  /** Of the time of its signature. */
  readonly offSeconds?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly isRecorded?: boolean;
}

const HEADERS = ['allow', 'www-authenticate', 'retry-after', 'content-disposition'];

/** Starts an installation and the service, and records in `area` what is done to it. */
export async function openOutside(redisUrl: string, area: string, environment: AppOptions['environment'] = {}) {
  const recording = new Recording(area);
  const service = await startFakeService();
  const odd: FakeReply[] = [];
  service.onCall(async (call) => odd.shift() ?? documented(call, await sentIn(call)));
  const start = (changes: AppOptions['environment'] = {}, role: AppOptions['role'] = 'all') =>
    startApp({
      redisUrl,
      role,
      environment: {
        SERVICE_BASE_URL: service.url,
        WEBHOOK_SECRETS: SECRET,
        NOT_FOUND_RETRIES: '0',
        ...environment,
        ...changes,
      },
    });
  let app = await start();
  const keys = new Map<string, string>([
    ['ops', app.apiKey],
    ['a wrong key', 'thk_wrong'],
  ]);

  async function ask(url: string, method: string, { body, form, headers = {} }: Call, key?: string) {
    const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body);
    const response = await fetch(url, {
      method,
      headers: {
        ...(text === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
        ...headers,
      },
      body: form ?? text ?? null,
    });
    const type = response.headers.get('content-type') ?? 'nothing';
    const answered = await response.text();
    const shown: unknown = type.startsWith('application/json')
      ? JSON.parse(answered)
      : type.startsWith('text/csv')
        ? answered
        : type;
    const shownHeaders = HEADERS.flatMap((name) => {
      const value = response.headers.get(name);
      return value === null ? [] : [[name, name === 'retry-after' ? '<seconds>' : value] as const];
    });
    return { status: response.status, headers: Object.fromEntries(shownHeaders), body: shown };
  }

  /** Calls the API and records the answer, which is returned. */
  async function api(line: string, call: Call = {}): Promise<unknown> {
    const { as = 'ops', body, headers = {}, form, shapeOnly = false } = call;
    const [method = '', path = ''] = line.split(' ');
    const answer = await ask(`${app.consoleUrl}${path}`, method, call, keys.get(as));
    const sent =
      form === undefined
        ? body
        : Object.fromEntries([...form].map(([name, part]) => [name, typeof part === 'string' ? part : part.name]));
    const more = [sent, Object.keys(headers).length > 0 ? headers : undefined].filter((each) => each !== undefined);
    const did = [line, ...(as === 'ops' ? [] : [`as ${as}`]), ...more.map((each) => shortened(JSON.stringify(each)))];
    recording.answer(did.join(' '), answer.status, answer.headers, shapeOnly ? shapeOf(answer.body) : answer.body);
    return answer.body;
  }

  /** Reads without recording until a check of the answer passes. */
  const untilApi = <T>(path: string, check: (body: unknown) => T): Promise<T> =>
    eventually(async () => check((await ask(`${app.consoleUrl}${path}`, 'GET', {}, app.apiKey)).body));

  return {
    recording,
    service,
    get app() {
      return app;
    },
    api,
    untilApi,
    /** Makes a key of each role, unrecorded. */
    async makeKeys() {
      for (const role of ['viewer', 'crew', 'dispatcher'] as const) {
        const { body } = await ask(`${app.consoleUrl}/api/keys`, 'POST', { body: { name: role, role } }, app.apiKey);
        keys.set(role, z.object({ api_key: z.string() }).parse(body).api_key);
      }
    },
    /** Sends a webhook with this signature id, null for none, and records the answer. */
    webhook: async (
      line: string,
      body: unknown,
      { id = 'msg_1', secret = SECRET, headers = {}, offSeconds = 0, isRecorded = true }: Webhook = {},
    ) => {
      const [method = '', path = ''] = line.split(' ');
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const signature = id === null ? {} : signed(text, { secret, id, offSeconds });
      const sent = method === 'GET' ? {} : { body: text, headers: { ...signature, ...headers } };
      const answer = await ask(`${app.receiverUrl}${path}`, method, sent);
      if (!isRecorded) return;
      const by = id === null ? 'unsigned' : secret === SECRET ? id : `${id} with another secret`;
      recording.answer(`${line} (${by}) ${shortened(text)}`, answer.status, answer.headers, answer.body);
    },
    /** Waits until nothing of a tow or violation is still to be sent, and records it. */
    settled: async (path: string): Promise<void> => {
      await untilApi(path, (body) => {
        const { reports, state } = z
          .object({ state: z.string(), reports: z.array(z.object({ state: z.string() })).optional() })
          .parse(body);
        const states = reports?.map((each) => each.state) ?? [state];
        expect(states.filter((each) => each === 'pending' || each === 'sending')).toEqual([]);
      });
      await api(`GET ${path}`);
    },
    /** The next call of the service is answered so. */
    serviceAnswers: (...replies: readonly FakeReply[]) => void odd.push(...replies),
    /** Records the calls that the service has received. */
    async callsOfService() {
      for (const call of service.calls) {
        recording.add(`the service is called: ${call.method} ${call.url}`, await sentIn(call));
      }
    },
    /** The help of a command, unrecorded. */
    help: async (path: string) =>
      (await run([...path.split(' ').filter((word) => word !== ''), '--help'], { url: app.consoleUrl, apiKey: null }))
        .out,
    /** Runs a command and records its exit code and what it prints. */
    command: async (line: string, { url = app.consoleUrl, as = 'ops' }: { url?: string; as?: string } = {}) => {
      const words = (line.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));
      const { exitCode, out, problems } = await run(words, { url, apiKey: keys.get(as) ?? null });
      const by = as === 'ops' ? '' : ` (${as})`;
      recording.add(`towhook ${line}${by}`, { exitCode, out: out.split('\n'), problems: problems.split('\n') });
    },
    /** Starts the process again with other variables. */
    async restart(changes: AppOptions['environment']) {
      await app.stop();
      app = await start(changes);
      keys.set('ops', app.apiKey);
    },
    start,
    async stop() {
      await app.stop();
      await service.stop();
    },
  };
}

export type Outside = Awaited<ReturnType<typeof openOutside>>;

const shortened = (text: string) => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

/** The names of all fields, without their values; of a list its first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return '…';
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shapeOf(field)]));
}

/** The answer of the service to what it refuses (docs/service-api.md#errors). */
export const refusal = (status: number, message: string): FakeReply =>
  json({ code: status, message, data: null }, status);
