import type { IncomingHttpHeaders } from 'node:http';
import type { OperationName } from '../contracts/service/operations';
import { BoundedList } from './bounded';

/** One call on an operation of the service, as `GET /simulator/calls` shows it. */
export interface SimulatedCall {
  /** Arrival, ISO 8601 with milliseconds. */
  readonly at: string;
  readonly operation: OperationName;
  readonly method: string;
  /** As requested: with its prefix and query. */
  readonly path: string;
  /** Credentials are masked. */
  readonly headers: Readonly<Record<string, unknown>>;
  body: unknown;
  /** Null until an answer was sent. */
  status: number | null;
  /** Whether the service acted on the call, answered or not. */
  effect: boolean;
  /** The fault of the call. */
  fault: string | null;
  /**
   * Whether the caller gave up before its call was read; such a call may be read after later ones. Absent while
   * unknown.
   */
  hung_up?: boolean;
}

/** Kept as an object until the call is over, then as JSON text, which takes a fraction of the memory. */
interface CallEntry {
  towingReference: string | null;
  call: SimulatedCall | string;
}

const CALLS_MAX = 200_000;

/** The last calls, in order of arrival. */
export class CallLog {
  readonly #entries = new BoundedList<CallEntry>(CALLS_MAX);

  /** Records the arrival of a call. The caller updates the call and closes it when it is over. */
  open(call: SimulatedCall): { setTowingReference(reference: string | null): void; close(): void } {
    const entry: CallEntry = { towingReference: null, call };
    this.#entries.push(entry);
    return {
      setTowingReference: (reference) => {
        entry.towingReference = reference;
      },
      close: () => {
        entry.call = JSON.stringify(call);
      },
    };
  }

  /** The calls as JSON texts, optionally of one tow. */
  texts(towingReference: string | null): string[] {
    return this.#entries
      .values()
      .filter((entry) => towingReference === null || entry.towingReference === towingReference)
      .map(({ call }) => (typeof call === 'string' ? call : JSON.stringify(call)));
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
  }
}

/** The headers without the token and the client secret. */
export function maskedHeaders(headers: IncomingHttpHeaders): Record<string, unknown> {
  const masked: Record<string, unknown> = { ...headers };
  if (headers.authorization !== undefined) {
    const scheme = /^\S+(?= )/.exec(headers.authorization)?.[0];
    masked['authorization'] = scheme === undefined ? '[hidden]' : `${scheme} [hidden]`;
  }
  if (headers['x-client-secret'] !== undefined) masked['x-client-secret'] = '[hidden]';
  return masked;
}
