import { answerOf, ApiRefusal, asUpload, createClient, watchTows, type ApiClient } from '../client';
import { FACT_CONTRACTS } from '../contracts/facts';
import type { TowView } from '../contracts/operator';
import type { RequestOf } from '../contracts/operations';
import type { JsonObject, ReportKind } from '../domain/vocabulary';

/** The operator API as the demo uses it: over HTTP, with a key, through the typed client. */
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

export function createOperatorClient(baseUrl: string, apiKey: string): OperatorClient {
  const client = createClient({ baseUrl, apiKey });
  return {
    async tow(ref) {
      const path = { towing_reference_id: ref };
      const call = answerOf(client.GET('/api/tows/{towing_reference_id}', { params: { path } }));
      return call.catch((error: unknown) => {
        if (error instanceof ApiRefusal && error.httpStatus === 404) return null;
        throw error;
      });
    },
    async recordFact(ref, kind, entry) {
      await post(client, kind, { ref, entry });
    },
    async report(form, pictures) {
      await client.POST('/api/violations', { body: { ...form, images: [...pictures] }, ...asUpload() });
    },
    async deliveries(cursor) {
      const query = { limit: 200, cursor: cursor ?? undefined };
      const { items, next_cursor } = await answerOf(client.GET('/api/deliveries', { params: { query } }));
      return { items: items.flatMap((item) => ('signature_id' in item ? [item] : [])), next_cursor };
    },
    watch: (onChange, signal) => watchTows(client, onChange, signal),
  };
}

function post(client: ApiClient, kind: ReportKind, { ref, entry }: { ref: string; entry: JsonObject }) {
  const params = { path: { towing_reference_id: ref } };
  return client.POST(`/api/tows/{towing_reference_id}/${kind}`, {
    params,
    body: FACT_CONTRACTS[kind].body.parse(entry),
  });
}
