import type { FuzzFailure } from './findings';
import { runDirect, type Batches, type DirectResult } from './direct-runs';
import { runHttp, type HttpResult } from './over-http';
import { BATCH_SIZE, type TargetName } from './target';
import { TARGETS } from './targets';

export interface FuzzOptions {
  readonly seed: number;
  /** The number of inputs; each target gets its share, in whole batches. */
  readonly inputs: number;
  /** Null for all targets. */
  readonly target: TargetName | null;
  /** Repeats one batch of the target, both ways, instead of a run. */
  readonly batch: number | null;
  readonly signal: AbortSignal;
  readonly show: (line: string) => void;
}

/** The inputs of one target, by way. */
export interface TargetInputs {
  readonly target: TargetName;
  readonly direct: number;
  readonly http: number;
}

export interface FuzzFindings {
  readonly seconds: number;
  readonly parts: readonly TargetInputs[];
  readonly direct: DirectResult;
  readonly http: HttpResult;
  readonly failures: readonly FuzzFailure[];
}

/** The share of batches that goes over HTTP to a running product; the rest goes straight to the exported parsers. */
const HTTP_PART = 0.1;
const SHOW_EVERY = 10_000;

export async function runFuzz(options: FuzzOptions): Promise<FuzzFindings> {
  const startedMs = performance.now();
  const { seed, signal, show } = options;
  const plans = plansOf(options);
  show('parsers in two processes of their own …');
  const direct = await runDirect(
    seed,
    plans.map(({ direct }) => direct),
    signal,
  );
  show(`${direct.inputs} inputs taken by the parsers; now over HTTP to a running product …`);
  let shown = 0;
  const http = await runHttp(interleaved(plans.map(({ http }) => http)), {
    seed,
    signal,
    tick: (inputs) => {
      if (inputs - shown < SHOW_EVERY) return;
      shown = inputs;
      show(`${inputs} inputs over HTTP`);
    },
  });
  return {
    seconds: (performance.now() - startedMs) / 1000,
    parts: plans.map(({ target, direct, http }) => ({ target, direct: inputsOf(direct), http: inputsOf(http) })),
    direct,
    http,
    failures: [...direct.failures, ...http.failures],
  };
}

interface BatchPlan {
  readonly target: TargetName;
  readonly direct: Batches;
  readonly http: Batches;
}

/** Each target has at least one batch each way; the ways have different batches. */
function plansOf({ inputs, target: only, batch }: FuzzOptions): BatchPlan[] {
  const chosen = TARGETS.filter(({ name }) => only === null || name === only);
  const shares = chosen.reduce((sum, { share }) => sum + share, 0);
  return chosen.map(({ name: target, share }) => {
    if (batch !== null) {
      const one = { target, from: batch, to: batch + 1 };
      return { target, direct: one, http: one };
    }
    const all = Math.max(2, Math.round((inputs * share) / shares / BATCH_SIZE));
    const overHttp = Math.max(1, Math.round(all * HTTP_PART));
    return { target, http: { target, from: 0, to: overHttp }, direct: { target, from: overHttp, to: all } };
  });
}

function inputsOf({ from, to }: Batches): number {
  return (to - from) * BATCH_SIZE;
}

/** Interleaves the targets, so that the warm-up sees all of them. */
function interleaved(plans: readonly Batches[]): { target: TargetName; batch: number }[] {
  const steps = Math.max(...plans.map(({ from, to }) => to - from));
  return Array.from({ length: steps }, (_, step) =>
    plans.flatMap(({ target, from, to }) => (from + step < to ? [{ target, batch: from + step }] : [])),
  ).flat();
}
