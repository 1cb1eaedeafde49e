import type { IncomingHttpHeaders } from 'node:http';
import type { OperationName } from '../contracts/operations';
import { BoundedList } from './bounded';

/** One call on an operation of the service, as `GET /simulator/calls` shows it. */
export interface Call {
  /** Arrival, ISO 8601 with milliseconds. */
  readonly at: string;
  readonly operation: OperationName;
  readonly method: string;
  /** As requested: with its prefix and query. */
  readonly path: string;
  /** Credentials are masked. */
  readonly headers: Readonly<Record<string, unknown>>;
  body: unknown;
  /** Null as long as, and when, no answer was sent. */
  status: number | null;
  /** Whether the service acted on it, answered or not. */
  effect: boolean;
  /** The fault that hit it. */
  fault: string | null;
  /** Whether the caller had given up before its call was read: such a call may be read after later ones. Absent before. */
  hung_up?: boolean;
}

/** Kept until the call is over as an object, from then on as its JSON text, which takes a fraction of the memory. */
interface Entry {
  towingReference: string | null;
  call: Call | string;
}

const CALLS_MAX = 200_000;

/** The last calls, in order of arrival. */
export class CallLog {
  readonly #entries = new BoundedList<Entry>(CALLS_MAX);

  /** Notes the arrival of a call. The holder changes the call as it goes on and closes it when it is over. */
  open(call: Call): { setTowingReference(reference: string | null): void; close(): void } {
    const entry: Entry = { towingReference: null, call };
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

  /** The calls as JSON texts, all or those of one tow. */
  texts(towingReference: string | null): string[] {
    return this.#entries
      .items()
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

/** Headers fit to be shown: the token and the client secret are hidden. */
export function maskedHeaders(headers: IncomingHttpHeaders): Record<string, unknown> {
  const masked: Record<string, unknown> = { ...headers };
  if (headers.authorization !== undefined) {
    const scheme = /^\S+(?= )/.exec(headers.authorization)?.[0];
    masked['authorization'] = scheme === undefined ? '[hidden]' : `${scheme} [hidden]`;
  }
  if (headers['x-client-secret'] !== undefined) masked['x-client-secret'] = '[hidden]';
  return masked;
}
