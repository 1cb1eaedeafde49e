import { z } from 'zod';
import { pause } from '../../src/platform/timers';
import { machineMs } from '../measure/resources';
import { openConnection, requestTemplate, sendUntilTaken, type BenchConnection } from './connection';
import { serveCommands } from './protocol';
import { FACTS, towNames, towRequest } from './tow';

/**
 * Plays tows at a fixed rate, however slow the answers are, and remembers when it sent what: the other end of each
 * latency is at the stub of the service or in the event stream.
 */

const command = z.object({
  do: z.literal('pace'),
  receiverUrl: z.string(),
  /** Where the facts go; null plays webhooks alone. */
  consoleUrl: z.string().nullable(),
  apiKey: z.string(),
  /** From one fact of a tow to its next; 0 sends each as soon as the one before is answered. */
  factsEveryMs: z.number(),
  prefix: z.string(),
  towsPerSecond: z.number(),
  tows: z.int(),
});

const KNOWN_WITHIN_MS = 60_000;
const eventData = z.looseObject({ subject: z.object({ kind: z.string(), id: z.string() }).nullish() });

interface PacedTow {
  readonly ref: string;
  readonly sentMs: number;
  readonly answeredMs: number;
  readonly processedMs: number | null;
  /** When each fact was sent, in the order of FACTS. */
  readonly factsSentMs: readonly number[];
}

async function handle(received: unknown): Promise<unknown> {
  const wanted = command.parse(received);
  const { receiverUrl, consoleUrl, apiKey, factsEveryMs, prefix, towsPerSecond, tows } = wanted;
  const events = consoleUrl === null ? null : await watchEvents(consoleUrl, apiKey);
  const receiver = connectionPool(receiverUrl);
  const console = consoleUrl === null ? null : connectionPool(consoleUrl);
  const webhook = requestTemplate(`${receiverUrl}/tow-request`, 'POST', null);
  const startedMs = machineMs();

  const play = async (number: number): Promise<PacedTow> => {
    await pause(Math.max(0, startedMs + (number * 1000) / towsPerSecond - machineMs()));
    const names = towNames(prefix, number);
    const ref = names.towingReferenceId;
    const processed = events?.next(ref) ?? Promise.resolve(null);
    const sentMs = machineMs();
    await receiver(webhook(towRequest(names)));
    const answeredMs = machineMs();
    const processedMs = await processed;
    const factsSentMs: number[] = [];
    for (const [kind, body] of console === null ? [] : FACTS) {
      const waitMs = (factsSentMs.at(-1) ?? 0) + factsEveryMs - machineMs();
      if (waitMs > 0) await pause(waitMs);
      factsSentMs.push(machineMs());
      await console?.(requestTemplate(`${consoleUrl}/api/tows/${ref}/${kind}`, 'POST', apiKey)(body));
    }
    return { ref, sentMs, answeredMs, processedMs, factsSentMs };
  };

  const played = await Promise.all(Array.from({ length: tows }, (_, number) => play(number)));
  events?.close();
  return played;
}

/** Sends on a connection that is free, or on a new one. */
function connectionPool(url: string): (request: string) => Promise<void> {
  const free: BenchConnection[] = [];
  return async (request) => {
    const connection = free.pop() ?? openConnection(url);
    await sendUntilTaken(connection, request);
    free.push(connection);
  };
}

interface Events {
  /** When the next change of a tow is announced. Rejects when none comes in time. */
  next(ref: string): Promise<number>;
  close(): void;
}

/** Follows the event stream of the operator API. */
async function watchEvents(consoleUrl: string, apiKey: string): Promise<Events> {
  const waiting = new Map<string, (atMs: number) => void>();
  const closing = new AbortController();
  const { signal } = closing;
  const answer = await fetch(`${consoleUrl}/api/events`, { headers: { authorization: `Bearer ${apiKey}` }, signal });
  if (answer.status !== 200 || answer.body === null) throw new Error(`${answer.status} from the event stream`);
  const read = async (body: AsyncIterable<Uint8Array>) => {
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body) {
      const atMs = machineMs();
      const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter((each) => each.startsWith('data: '))) {
        const { subject } = eventData.parse(JSON.parse(line.slice('data: '.length)));
        if (subject?.kind !== 'tow') continue;
        waiting.get(subject.id)?.(atMs);
        waiting.delete(subject.id);
      }
    }
  };
  read(answer.body).catch(() => {});
  return {
    next: (ref) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no event about ${ref}`)), KNOWN_WITHIN_MS);
        waiting.set(ref, (atMs) => {
          clearTimeout(late);
          resolve(atMs);
        });
      }),
    close: () => closing.abort(),
  };
}

serveCommands(handle);
