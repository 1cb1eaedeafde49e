import { readdir, rm } from 'node:fs/promises';
import { createConnection, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Response as ApiAnswer, Test } from 'supertest';
import { violationView, type ViolationView } from '../../src/contracts/violation/violations';
import { nullIfAbsent } from '../../src/platform/errors';
import type { App } from '../support/app';
import { filesIn } from '../spool/world';
import { eventually } from '../support/eventually';
import { api, type ApiResponse, type ConsoleAccess } from './client';

/** Multipart forms of violations and photos, and a raw client for uploads that no HTTP library sends. */

/** The required fields of a violation, as text (docs/service-api.md#violation-form). */
export const REQUIRED = {
  latitude: '24.7136',
  longitude: '46.6753',
  location: 'King Fahd Road 12, Riyadh',
  plateNumber: 'ABJ 1235',
  plateType: 'PRIVATE',
  zoneId: '11111111-2222-4333-8444-555555555555',
  violationType: 'WRONG_PARKING',
} as const;

export const COMPLETE = {
  ...REQUIRED,
  date: '2026-03-10T18:05:00Z',
  imagesDescription: 'Front and side',
  isSaudi: 'true',
  metadata: '{"id":"case-77","shift":{"name":"night","cars":2}}',
  fullName: 'A Reporter',
  identityNumber: '1000000008',
  mobileNumber: '0512345678',
  supervisorFullName: 'A Supervisor',
  supervisorIdentityNumber: '2000000006',
  supervisorMobileNumber: '+966512345678',
} as const;

export interface FormFile {
  readonly name: string;
  readonly bytes: Buffer;
  /** The name of the form field. Default: `images`. */
  readonly under?: string;
}

export function formOf(fields: Readonly<Record<string, string>>, files: readonly FormFile[] = []): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  for (const { name, bytes, under } of files) form.append(under ?? 'images', new Blob([new Uint8Array(bytes)]), name);
  return form;
}

/**
 * Sends a form with a supertest request. The platform encodes it, as a browser does: superagent's own encoder leaves out
 * a form without parts and a file without a name.
 */
export async function sendForm(request: Test, form: FormData): Promise<ApiAnswer> {
  const encoded = new Response(form);
  const bytes = Buffer.from(await encoded.arrayBuffer());
  return request.set('content-type', encoded.headers.get('content-type') ?? '').send(bytes);
}

export interface FormOptions {
  /** Null sends no key. Default: the bootstrap key. */
  readonly apiKey?: string | null;
  readonly idempotencyKey?: string;
}

export function postForm(
  app: ConsoleAccess,
  path: string,
  form: FormData,
  { apiKey, idempotencyKey }: FormOptions = {},
): Promise<ApiAnswer> {
  const request = api(app, apiKey).post(path);
  return sendForm(idempotencyKey === undefined ? request : request.set('idempotency-key', idempotencyKey), form);
}

export function report(
  app: ConsoleAccess,
  fields: Readonly<Record<string, string>> = REQUIRED,
  files: readonly FormFile[] = [],
  options?: FormOptions,
): Promise<ApiAnswer> {
  return postForm(app, '/api/violations', formOf(fields, files), options);
}

/** Reads a violation from a response. Throws when the status is not the expected one. */
export function violationIn(response: ApiResponse, status = 202): ViolationView {
  if (response.status !== status) throw new Error(`answered ${response.status}: ${response.text}`);
  return violationView.parse(response.body);
}

/** The files below the spool and the photo folder of a process, without those by which it is recognized and tried. */
export async function imagesOnDisk(app: Pick<App, 'foundation'>): Promise<string[]> {
  const { dataDir } = app.foundation.config;
  const [spooled, photos] = [await filesIn(join(dataDir, 'spool')), await filesIn(join(dataDir, 'photos'))];
  return [
    ...spooled.filter((path) => path !== 'marker' && path !== 'claimed' && !/(^|\/)probe\./.test(path)),
    ...photos.map((path) => `photos/${path}`),
  ];
}

/**
 * Removes all images: the Redis of the next test has no record of them. The folders and probes stay: the process may be
 * trying its disk.
 */
export async function clearDisk(app: Pick<App, 'foundation'>): Promise<void> {
  const { dataDir } = app.foundation.config;
  const folders = [join(dataDir, 'spool', 'incoming'), join(dataDir, 'spool', 'violations'), join(dataDir, 'photos')];
  for (const folder of folders) {
    const names = await readdir(folder).catch(nullIfAbsent);
    const images = (names ?? []).filter((name) => !name.startsWith('probe.'));
    await Promise.all(images.map((name) => rm(join(folder, name), { recursive: true, force: true })));
  }
}

export const BOUNDARY = 'boundary-of-the-tests';

/** The first bytes of a form that a raw client writes: the fields, and the header of one image part. */
export function formHead(fields: Readonly<Record<string, string>> = REQUIRED): string {
  const parts = Object.entries(fields).map(
    ([name, value]) => `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return `${parts.join('')}--${BOUNDARY}\r\ncontent-disposition: form-data; name="images"; filename="a.png"\r\n\r\n`;
}

export const FORM_TAIL = `\r\n--${BOUNDARY}--\r\n`;

export interface RawClient {
  readonly socket: Socket;
  /** The bytes of the response so far. */
  readonly answered: () => string;
  /** Resolves when the server has closed the connection. */
  readonly closed: Promise<void>;
  /** Writes and waits until the kernel has accepted the bytes. Resolves with false once the connection is closed. */
  write(bytes: string | Buffer): Promise<boolean>;
}

/** A client that writes a request byte by byte: supertest cannot send half a body, or one that breaks off. */
export async function rawClient(
  app: ConsoleAccess,
  request: { path: string; headers: Readonly<Record<string, string>> },
): Promise<RawClient> {
  const { hostname, port } = new URL(app.consoleUrl);
  const socket = createConnection({ host: hostname, port: Number(port) });
  let answered = '';
  socket.on('data', (chunk: Buffer) => {
    answered += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
  const headers = {
    host: 'towhook',
    authorization: `Bearer ${app.apiKey}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    ...request.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${request.path} HTTP/1.1\r\n${lines.join('')}\r\n`);
  return {
    socket,
    answered: () => answered,
    closed,
    write: (bytes) =>
      new Promise((resolve) => {
        if (socket.destroyed || socket.writableEnded) return resolve(false);
        socket.write(bytes, (error) => resolve(!error));
      }),
  };
}

/** One chunk of a body with chunked transfer encoding. */
export function chunk(bytes: Buffer | string): Buffer {
  const body = Buffer.from(bytes);
  return Buffer.concat([Buffer.from(`${body.length.toString(16)}\r\n`), body, Buffer.from('\r\n')]);
}

/** The complete response to a raw client. */
export async function answerOf(client: {
  answered: () => string;
}): Promise<{ status: number; head: string; body: unknown }> {
  return eventually(() => {
    const [head = '', body = ''] = client.answered().split('\r\n\r\n');
    const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(head) ?? [];
    if (status === undefined) throw new Error('no answer yet');
    const parsed: unknown = JSON.parse(body);
    return { status: Number(status), head, body: parsed };
  });
}
