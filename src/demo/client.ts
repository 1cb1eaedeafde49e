import { ApiRefusal, createClient, ApiUnreachable } from '../client';
import { FACT_CONTRACTS } from '../contracts/tow/facts';
import type { TowView } from '../contracts/operator';
import type { RequestOf } from '../contracts/service/operations';
import { ROUTES } from '../contracts/operator-routes';
import type { JsonObject, ReportKind } from '../domain/vocabulary';
import { systemClock } from '../platform/clock';
import { pause } from '../platform/timers';

/**
 * The operator API as the demo uses it: over HTTP, with a key, through the typed client. Calls without an answer are
 * repeated, as the API asks its clients to do; what is recorded or reported is recorded once.
 */
export interface OperatorClient {
  /** Null until the tow is known. */
  tow(ref: string): Promise<TowView | null>;
  /** Records a fact of a tow. Rejects with ApiRefusal. */
  recordFact(ref: string, kind: ReportKind, entry: JsonObject): Promise<void>;
  /** Reports a violation with its images. Rejects with ApiRefusal. */
  report(form: NewViolation, pictures: readonly File[]): Promise<void>;
  /** A page of webhook deliveries. */
  deliveries(cursor: string | null): Promise<DeliveryPage>;
  /** Calls `onChange` with the reference of every tow that changes, until the signal aborts. */
  watch(onChange: (ref: string) => void, signal: AbortSignal): Promise<void>;
}

/** The form of a violation (docs/service-api.md#violation-form). */
export type NewViolation = RequestOf<'violation_guide'> &
  Pick<RequestOf<'violation'>, 'latitude' | 'longitude' | 'location'>;

/** The used fields of a page of deliveries. */
export interface DeliveryPage {
  readonly items: readonly { readonly state: string; readonly signature_id: string | null }[];
  readonly next_cursor: string | null;
}

/** Repeats calls until `signal` aborts, or as long as `repeatUntilAnswered` does. */
export function createOperatorClient(baseUrl: string, apiKey: string, signal?: AbortSignal): OperatorClient {
  const client = createClient({ baseUrl, apiKey });
  const send = <T>(call: () => Promise<T>) => repeatUntilAnswered(call, signal);
  return {
    async tow(ref) {
      const params = { towing_reference_id: ref };
      return send(() => client.call(ROUTES.readTow, { params })).catch((error: unknown) => {
        if (error instanceof ApiRefusal && error.httpStatus === 404) return null;
        throw error;
      });
    },
    async recordFact(ref, kind, entry) {
      const params = { towing_reference_id: ref };
      const body = FACT_CONTRACTS[kind].body.parse(entry);
      const key = systemClock.id();
      await send(() => client.call(ROUTES[kind], { params, body, key }));
    },
    async report(form, pictures) {
      const body = { ...form, images: pictures };
      const key = systemClock.id();
      await send(() => client.call(ROUTES.reportViolation, { body, key }));
    },
    async deliveries(cursor) {
      const query = { limit: 200, cursor: cursor ?? undefined };
      return send(() => client.call(ROUTES.listDeliveries, { query }));
    },
    watch: (onChange, watchSignal) => client.watchTows(onChange, watchSignal),
  };
}

/** After this time the failure is reported. */
const REPEAT_LIMIT_MS = 100_000;
const REPEAT_AFTER_S = 0.2;

/**
 * Makes a call of the operator API, and repeats it while it gets no answer or 503, after Retry-After if there is one:
 * Redis may stall for seconds, for example on a busy disk. Gives up after 100 s or when `signal` aborts,
 * and rejects with the last failure. Writes need an Idempotency-Key that is the same each time.
 */
async function repeatUntilAnswered<T>(call: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  const untilMs = systemClock.monotonicMs() + REPEAT_LIMIT_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!isUnanswered(error) || signal?.aborted || systemClock.monotonicMs() > untilMs) throw error;
      const { retryAfterS = null } = error instanceof ApiRefusal ? error : {};
      await pause((retryAfterS ?? REPEAT_AFTER_S) * 1000, signal);
    }
  }
}

function isUnanswered(error: unknown): boolean {
  return error instanceof ApiUnreachable || (error instanceof ApiRefusal && error.httpStatus === 503);
}
