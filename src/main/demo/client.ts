import { jsonObject } from '../../contracts/common';
import { deliveryPage, towView, type TowView } from '../../contracts/operator';
import type { JsonObject } from '../../domain/vocabulary';

/** The operator API as the demo's crew uses it: over HTTP, with a key, like any dispatch software. */
export interface OperatorClient {
  /** Null until the tow is known. */
  tow(ref: string): Promise<TowView | null>;
  /** Posts below `/api`; says what was answered. */
  post(path: string, body: JsonObject): Promise<{ status: number; body: JsonObject }>;
  /** A page of webhook deliveries. */
  deliveries(cursor: string | null): Promise<DeliveryPage>;
  /** Calls back with the reference of every tow that changes, until the signal ends it. */
  watch(onChange: (ref: string) => void, signal: AbortSignal): Promise<void>;
}

export type DeliveryPage = typeof deliveryPage._zod.output;

export function createOperatorClient(baseUrl: string, apiKey: string): OperatorClient {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const url = (path: string) => `${baseUrl}/api${path}`;
  return {
    async tow(ref) {
      const response = await fetch(url(`/tows/${encodeURIComponent(ref)}`), { headers });
      if (response.status === 404) return null;
      return towView.parse(await response.json());
    },
    async post(path, body) {
      const response = await fetch(url(path), { method: 'POST', headers, body: JSON.stringify(body) });
      return { status: response.status, body: jsonObject.parse(await response.json()) };
    },
    async deliveries(cursor) {
      const after = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const response = await fetch(url(`/deliveries?limit=200${after}`), { headers });
      return deliveryPage.parse(await response.json());
    },
    async watch(onChange, signal) {
      const response = await fetch(url('/events'), { headers, signal });
      if (!response.body) throw new Error('the event stream has no body');
      let unread = '';
      for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
        const lines = `${unread}${chunk}`.split('\n');
        unread = lines.pop() ?? '';
        for (const line of lines) noteChange(line, onChange);
      }
    },
  };
}

function noteChange(line: string, onChange: (ref: string) => void): void {
  if (!line.startsWith('data: ')) return;
  const { towing_reference_id: ref } = jsonObject.parse(JSON.parse(line.slice('data: '.length)));
  if (typeof ref === 'string') onChange(ref);
}
