import { fetchWithin } from './fetch-within';

export interface FormUploadOptions {
  /** Called with the number of bytes sent so far. */
  readonly onSent?: (bytes: number) => void;
  readonly timeoutMs?: number;
  /** Further fields as text: JSON that must arrive as it was written. */
  readonly texts?: Readonly<Record<string, string>>;
}

/** More than the console gives the largest upload (docs/operations/running.md#connections). */
const TIMEOUT_MS = 3_600_000;

/**
 * Options of a call that sends a form: `client.POST('/api/violations', { body, ...asUpload() })`. Give files as `File`, or as
 * `Blob` without a name. A Blob of `fs.openAsBlob` is streamed from the disk.
 */
export function asUpload({ onSent, timeoutMs = TIMEOUT_MS, texts }: FormUploadOptions = {}) {
  return {
    bodySerializer: (fields: object | undefined) => formOf({ ...fields, ...texts }),
    fetch: (request: Request): Promise<Response> => {
      const { body, method } = request;
      if (!onSent || !body) return fetchWithin(timeoutMs, request);
      const counted = new Request(request, { method, body: body.pipeThrough(counting(onSent)), duplex: 'half' });
      return fetchWithin(timeoutMs, counted);
    },
  };
}

/** Fields as text, objects as JSON, files as files. Undefined fields are left out. */
function formOf(fields: object): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const one of values) append(form, name, one);
  }
  return form;
}

function append(form: FormData, name: string, value: unknown): void {
  if (value === undefined) return;
  if (value instanceof Blob) form.append(name, value);
  else form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
}

function counting(onSent: (bytes: number) => void): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk: Uint8Array, controller) {
      bytes += chunk.byteLength;
      onSent(bytes);
      controller.enqueue(chunk);
    },
  });
}
