import { z } from 'zod';
import { atMostTimes, type Sample } from '../measure/figures';
import { quantile } from '../measure/statistics';
import { CALLS } from '../programs/tow';
import { API_KEY, type BenchWorld } from '../stage/world';
import { untilDrained } from './owed-tows';
import { compare, type Options, type Workload } from './workload';

/**
 * Played first and not counted: by then the code is compiled, which takes more tows the more code there is, and the token is
 * there.
 */
const WARM_UP_SECONDS = 30;
const DRAINED_WITHIN_MS = 60_000;
/** The least time from a fact of a tow to its next. */
const SPACED_MS = 1000;

const played = z.array(
  z.object({
    ref: z.string(),
    sentMs: z.number(),
    answeredMs: z.number(),
    processedMs: z.number().nullable(),
    factsSentMs: z.array(z.number()),
  }),
);
type Played = z.output<typeof played>;
const callTimes = z.array(z.object({ ref: z.string(), place: z.int(), atMs: z.number() }));

/** How long things take at a steady rate of tows that loads nothing. */
export const latency: Workload = {
  name: 'latency',
  about: 'webhook to processed and fact to call at the service, at a steady rate of tows with five facts each',
  isStandard: true,
  measure: (tools) => compare('latency', { figures: FIGURES, plays: PLAYS }, tools),
};

/** What is compared with the first call of (a), which has no facts and no deliveries to process. */
const AFTER_FIRST = ['processed', 'spaced', 'at_once'];

function comparedWithFirst(name: string, text: string) {
  const rival = '(a): webhook → its first call';
  return {
    [`${name}_p50`]: { label: `${text}, p50; ${rival}`, unit: 'ms', digits: 1, target: atMostTimes(2) },
    [`${name}_p99`]: {
      label: `${text}, p99; ${rival}`,
      unit: 'ms',
      digits: 1,
      target: atMostTimes(4),
    },
  };
}

const FIGURES = {
  answer_p50: { label: 'webhook → answer, p50', unit: 'ms', digits: 1 },
  answer_p99: { label: 'webhook → answer, p99', unit: 'ms', digits: 1 },
  ...comparedWithFirst('processed', 'webhook → processed'),
  ...comparedWithFirst('spaced', 'fact → call at the service, facts a second apart'),
  ...comparedWithFirst('at_once', 'fact → call at the service, facts at once'),
};

const PLAYS = [
  {
    contender: 'towhook',
    variant: 'facts a second apart',
    run: async (world: BenchWorld, options: Options) => {
      // The facts of tows that begin at a steady rate would come at the same moments; so they come one by one.
      const spreadMs = 1000 / options.towsPerSecond / CALLS.length;
      const { tows, callsMs } = await playTowhook(world, options, SPACED_MS + spreadMs);
      const processed = tows.map(({ sentMs, processedMs }) => (processedMs ?? Number.NaN) - sentMs);
      return {
        ...answers(tows),
        processed_p50: quantile(processed, 0.5),
        processed_p99: quantile(processed, 0.99),
        spaced_p50: quantile(callsMs, 0.5),
        spaced_p99: quantile(callsMs, 0.99),
      };
    },
  },
  {
    contender: 'towhook',
    variant: 'facts at once',
    run: async (world: BenchWorld, options: Options) => {
      const { callsMs } = await playTowhook(world, options, 0);
      return { at_once_p50: quantile(callsMs, 0.5), at_once_p99: quantile(callsMs, 0.99) };
    },
  },
  {
    contender: 'express',
    run: async (world: BenchWorld, options: Options) => {
      const redisUrl = world.redis.url;
      const receiver = world.program('express-rival');
      const { url } = await receiver.ask({ do: 'receive', redisUrl }, z.object({ url: z.string() }));
      const { url: serviceUrl } = await world.service();
      await world.program('express-rival').ask({ do: 'call', redisUrl, serviceUrl }, z.unknown());
      const { tows, callAtMs } = await play(world, options, { receiverUrl: url, consoleUrl: null, factsEveryMs: 0 });
      const toFirst = tows.map(({ ref, sentMs }) => callAtMs(ref, 0) - sentMs);
      const [p50, p99] = [quantile(toFirst, 0.5), quantile(toFirst, 0.99)];
      const first = Object.fromEntries(
        AFTER_FIRST.flatMap((name) => [
          [`${name}_p50`, p50],
          [`${name}_p99`, p99],
        ]),
      );
      return { ...answers(tows), ...first };
    },
  },
] as const;

/** Plays tows with their facts. `callsMs` has the time from each fact to its call. */
async function playTowhook(
  world: BenchWorld,
  options: Options,
  factsEveryMs: number,
): Promise<{ tows: Played; callsMs: number[] }> {
  const [receiver, console] = [await world.role('receiver'), await world.role('console')];
  await world.role('worker');
  const urls = { receiverUrl: receiver.url('receiver'), consoleUrl: console.url('console') };
  const { tows, callAtMs } = await play(world, options, { ...urls, factsEveryMs });
  const callsMs = tows.flatMap(({ ref, factsSentMs }) =>
    factsSentMs.map((sentMs, place) => callAtMs(ref, place) - sentMs),
  );
  return { tows, callsMs };
}

/** Plays tows and returns those after the warm-up, with the time of every call at the service. */
async function play(
  world: BenchWorld,
  { towsPerSecond, seconds }: Options,
  how: { receiverUrl: string; consoleUrl: string | null; factsEveryMs: number },
): Promise<{ tows: Played; callAtMs: (ref: string, place: number) => number }> {
  const warmUp = towsPerSecond * WARM_UP_SECONDS;
  const tows = warmUp + towsPerSecond * seconds * 2;
  const pace = { do: 'pace', ...how, apiKey: API_KEY, prefix: 'p', towsPerSecond, tows };
  const all = await world.program('pace').ask(pace, played);
  await untilDrained(world, tows * CALLS.length, DRAINED_WITHIN_MS);
  const times = await (await world.service()).ask({ do: 'times' }, callTimes);
  const byCall = new Map(times.map(({ ref, place, atMs }) => [`${ref} ${place}`, atMs]));
  return { tows: all.slice(warmUp), callAtMs: (ref, place) => byCall.get(`${ref} ${place}`) ?? Number.NaN };
}

function answers(tows: Played): Sample {
  const tookMs = tows.map(({ sentMs, answeredMs }) => answeredMs - sentMs);
  return { answer_p50: quantile(tookMs, 0.5), answer_p99: quantile(tookMs, 0.99) };
}
