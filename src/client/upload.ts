/** How forms with files leave: as streams from the disk, never whole in memory. */

export interface UploadOptions {
  /** Is told how many bytes of the form have left so far. */
  readonly onSent?: (bytes: number) => void;
  readonly timeoutMs?: number;
}

/** Images of 10 MiB over a slow connection. */
const TIMEOUT_MS = 600_000;

/**
 * The options of a call whose body is a form: `client.POST('/api/violations', { body, ...asUpload() })`. Files are given
 * as `File`, or as `Blob` without a name; `fs.openAsBlob` makes one that is read when it is sent.
 */
export function asUpload({ onSent, timeoutMs = TIMEOUT_MS }: UploadOptions = {}) {
  return {
    bodySerializer: formOf,
    fetch: (request: Request): Promise<Response> => {
      const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
      const { body } = request;
      if (!onSent || !body) return fetch(request, { signal });
      const { method } = request;
      const counted = new Request(request, { method, body: body.pipeThrough(counting(onSent)), duplex: 'half' });
      return fetch(counted, { signal });
    },
  };
}

/** Every field as text, as forms have it; lists and objects as JSON, files as files, what is undefined not at all. */
function formOf(fields: object | undefined): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields ?? {})) {
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
