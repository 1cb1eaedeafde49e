import { z } from 'zod';
import { parseSetCookie } from 'cookie';
import { pause } from '../../src/platform/timers';
import { machineMs } from '../measure/resources';
import { median } from '../measure/statistics';
import { askedBy } from '../../test/console/board';
import { API_KEY } from '../stage/world';

/** Requests per figure, after some that are not counted. */
const RUNS = 20;
const WARM_UP = 3;
/** Tries of a request that is answered 503, as while the disk keeps Redis waiting, a second apart. */
const TRIES_MAX = 5;
const REPEAT_AFTER_MS = 1000;

const towPage = z.looseObject({ items: z.array(z.looseObject({ towing_reference_id: z.string() })) });
const conservationState = z.looseObject({
  acknowledged: z.int(),
  lost: z.int(),
  lost_names: z.array(z.string()),
  started_at: z.string().nullable(),
  ended_at: z.string().nullable(),
  check_ms: z.number().nullable(),
});
export type ConservationRow = z.output<typeof conservationState>;

/** A person with a browser and a program with an API key, at one console. */
export interface ConsoleVisitor {
  /** Median time of a page or an API list, ms. */
  timed(path: string): Promise<number>;
  /** Median time of what an open board asks for once a second, ms. */
  timedRefresh(): Promise<number>;
  /** The towing references that a search finds. */
  search(text: string): Promise<readonly string[]>;
  conservation(): Promise<ConservationRow>;
  /** Open tasks: what a person would be alarmed by. */
  openTasks(): Promise<number>;
}

/** Signs in at a console. */
export async function visitConsole(url: string): Promise<ConsoleVisitor> {
  const bearer = { authorization: `Bearer ${API_KEY}` };
  const cookie = await signIn(url);
  const fetchText = async (path: string, init: RequestInit): Promise<string> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await fetch(`${url}${path}`, { redirect: 'manual', ...init });
      const text = await answer.text();
      if (answer.status === 200) return text;
      if (answer.status !== 503 || tries === TRIES_MAX) throw new Error(`${answer.status} from ${path}`);
      await pause(REPEAT_AFTER_MS);
    }
  };
  const open = (path: string) =>
    fetchText(path, { headers: path.startsWith('/api/') ? bearer : { accept: 'text/html', cookie } });
  const read = async <T extends z.ZodType>(path: string, schema: T) => schema.parse(JSON.parse(await open(path)));
  return {
    timed: (path) => medianTime(() => open(path)),
    async timedRefresh() {
      const body = new URLSearchParams(askedBy(await open('/board'))).toString();
      const headers = { accept: 'text/html', cookie, 'content-type': 'application/x-www-form-urlencoded' };
      return medianTime(() => fetchText('/board/live', { method: 'POST', headers, body }));
    },
    async search(text) {
      const { items } = await read(`/api/tows?q=${encodeURIComponent(text)}`, towPage);
      return items.map(({ towing_reference_id: ref }) => ref);
    },
    conservation: () => read('/api/conservation', conservationState),
    openTasks: async () => (await read('/api/tasks', z.looseObject({ items: z.array(z.unknown()) }))).items.length,
  };
}

async function medianTime(request: () => Promise<string>): Promise<number> {
  const tookMs: number[] = [];
  for (let run = 0; run < WARM_UP + RUNS; run += 1) {
    const startedMs = machineMs();
    await request();
    if (run >= WARM_UP) tookMs.push(machineMs() - startedMs);
  }
  return median(tookMs);
}

async function signIn(url: string): Promise<string> {
  const body = new URLSearchParams({ key: API_KEY });
  const answer = await fetch(`${url}/sign-in`, { method: 'POST', redirect: 'manual', body });
  const cookies = answer.headers.getSetCookie().map((line) => parseSetCookie(line));
  return cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
}
