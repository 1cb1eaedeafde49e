/** The time limit of a form: more than the console gives the largest one (docs/operations/running.md#connections). */
export const UPLOAD_TIMEOUT_MS = 3_600_000;

/** Fields as text, objects as JSON, files as files. Undefined fields are left out. */
export function formOf(fields: object): FormData {
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

/** The same request; `onSent` is called with the number of bytes of its body sent so far. */
export function counted(request: Request, onSent: (bytes: number) => void): Request {
  const { body, method } = request;
  return body ? new Request(request, { method, body: body.pipeThrough(counting(onSent)), duplex: 'half' }) : request;
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
