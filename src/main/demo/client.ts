import { answerOf, ApiRefusal, asUpload, createClient, watchTows, type ApiClient } from '../../client';
import { FACT_BODIES, type TowView } from '../../contracts/operator';
import type { RequestOf } from '../../contracts/operations';
import type { JsonObject, ReportKind } from '../../domain/vocabulary';

/** The operator API as the demo's crew uses it: over HTTP, with a key, through the typed client. */
export interface OperatorClient {
  /** Null until the tow is known. */
  tow(ref: string): Promise<TowView | null>;
  /** Says what happened to a tow; rejects with ApiRefusal when it is not taken. */
  say(ref: string, kind: ReportKind, entry: JsonObject): Promise<void>;
  /** Reports a violation with its pictures; rejects with ApiRefusal when it is not taken. */
  report(form: NewViolation, pictures: readonly File[]): Promise<void>;
  /** A page of webhook deliveries. */
  deliveries(cursor: string | null): Promise<DeliveryPage>;
  /** Calls back with the reference of every tow that changes, until the signal ends it. */
  watch(onChange: (ref: string) => void, signal: AbortSignal): Promise<void>;
}

/** What a patrol says of a violation (service-api 2.1). */
export type NewViolation = RequestOf<'violation_guide'> &
  Pick<RequestOf<'violation'>, 'latitude' | 'longitude' | 'location'>;

/** What is looked at of a page of deliveries. */
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
    async say(ref, kind, entry) {
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

/** An address for each kind of fact, and a body of its own. */
function post(client: ApiClient, kind: ReportKind, { ref, entry }: { ref: string; entry: JsonObject }) {
  const params = { path: { towing_reference_id: ref } };
  switch (kind) {
    case 'started':
      return client.POST('/api/tows/{towing_reference_id}/started', { params, body: FACT_BODIES.started.parse(entry) });
    case 'detained':
      return client.POST('/api/tows/{towing_reference_id}/detained', {
        params,
        body: FACT_BODIES.detained.parse(entry),
      });
    case 'canceled':
      return client.POST('/api/tows/{towing_reference_id}/canceled', {
        params,
        body: FACT_BODIES.canceled.parse(entry),
      });
    case 'released':
      return client.POST('/api/tows/{towing_reference_id}/released', {
        params,
        body: FACT_BODIES.released.parse(entry),
      });
    case 'invoice':
      return client.POST('/api/tows/{towing_reference_id}/invoice', { params, body: FACT_BODIES.invoice.parse(entry) });
    case 'payment':
      return client.POST('/api/tows/{towing_reference_id}/payment', { params, body: FACT_BODIES.payment.parse(entry) });
  }
}
