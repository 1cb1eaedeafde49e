import { request as requestPlain, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestSecure, type RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { reasonOf, TransportFailure, type ConnectionStage } from './transport-failure';

/** What one attempt needs. */
export interface AttemptPlan {
  readonly secure: boolean;
  /** Agent, host, port, method, path and headers; `Content-Length` is set whenever there is a body. */
  readonly options: RequestOptions;
  readonly body: string | Readable | null;
  /** Bytes that `body` must turn out to be. */
  readonly bodyBytes: number;
  /** From the first look-up to the last byte of the answer. */
  readonly timeoutMs: number;
  readonly connectTimeoutMs: number;
  /** Longer answers are cut here. */
  readonly answerBytesMax: number;
  /** Asked once, on an open connection, right before the first byte is written; may wait. Never rejects. */
  readonly permission: () => Promise<SendPermission>;
}

/** Whether a call may be sent now. If not, `notBeforeMs` is when it may be; null when the right to send is too old. */
export type SendPermission =
  { readonly granted: true } | { readonly granted: false; readonly notBeforeMs: number | null };

/** An answer whose status line arrived. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** `broken_off`: the connection ended or the deadline passed inside the body. `too_long`: we stopped reading. */
  readonly ended: 'complete' | 'broken_off' | 'too_long';
}

type Settle = { readonly resolve: (answer: Answer) => void; readonly reject: (failure: TransportFailure) => void };

/**
 * Makes one request on one connection and settles exactly once. Resolves as soon as a status line arrived, however the
 * body then ended; rejects with a TransportFailure when none did.
 *
 * Nothing is written before the socket is connected (and secured), so that "surely not sent" is a fact and not a guess,
 * and the permission is requested right before the first byte.
 */
export function runAttempt(plan: AttemptPlan): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = plan.secure ? requestSecure(plan.options) : requestPlain(plan.options);
    new Attempt(plan, request, { resolve, reject }).start();
  });
}

class Attempt {
  readonly #plan: AttemptPlan;
  readonly #request: ClientRequest;
  readonly #settle: Settle;
  #stage: ConnectionStage = 'connecting';
  #settled = false;
  #response: IncomingMessage | null = null;
  #bytesSent = 0;
  readonly #chunks: Buffer[] = [];
  #bytesReceived = 0;
  #deadline: NodeJS.Timeout | undefined;
  #connectDeadline: NodeJS.Timeout | undefined;

  constructor(plan: AttemptPlan, request: ClientRequest, settle: Settle) {
    this.#plan = plan;
    this.#request = request;
    this.#settle = settle;
  }

  start(): void {
    this.#deadline = setTimeout(
      () => this.#fail(this.#stage === 'connected' ? 'timeout' : 'connect_timeout'),
      this.#plan.timeoutMs,
    );
    this.#request.on('socket', (socket) => this.#onSocket(socket));
    this.#request.on('response', (response) => this.#onResponse(response));
    this.#request.on('error', (error) => this.#fail(reasonOf(error, this.#stage)));
    if (this.#isStream(this.#plan.body)) this.#plan.body.on('error', () => this.#fail('body_unreadable'));
  }

  #onSocket(socket: Socket): void {
    if (this.#request.reusedSocket) {
      void this.#sendIfPermitted();
      return;
    }
    this.#connectDeadline = setTimeout(() => this.#fail('connect_timeout'), this.#plan.connectTimeoutMs);
    if (this.#plan.secure) socket.once('connect', () => (this.#stage = 'securing'));
    // The secureConnect event comes after the certificate was checked.
    socket.once(this.#plan.secure ? 'secureConnect' : 'connect', () => void this.#sendIfPermitted());
  }

  async #sendIfPermitted(): Promise<void> {
    clearTimeout(this.#connectDeadline);
    this.#stage = 'connected';
    if (this.#settled) return;
    const permission = await this.#plan.permission();
    // While it was asked for, the connection may have been closed or the deadline may have passed.
    if (this.#settled) return;
    if (permission.granted) this.#write();
    else this.#reject(new TransportFailure({ phase: 'dropped', reason: 'not_permitted', ...permission }));
  }

  #write(): void {
    const { body } = this.#plan;
    if (this.#isStream(body)) this.#writeStream(body);
    else this.#request.end(body ?? undefined);
  }

  /** A body of another length than announced would leave the service waiting, or read as the start of a next request. */
  #writeStream(body: Readable): void {
    body.on('data', (chunk: Buffer) => {
      this.#bytesSent += chunk.length;
      if (this.#bytesSent > this.#plan.bodyBytes) this.#fail('body_length_wrong');
    });
    body.on('end', () => {
      if (this.#settled) return;
      if (this.#bytesSent === this.#plan.bodyBytes) this.#request.end();
      else this.#fail('body_length_wrong');
    });
    body.pipe(this.#request, { end: false });
  }

  #onResponse(response: IncomingMessage): void {
    this.#response = response;
    response.on('data', (chunk: Buffer) => this.#onData(chunk));
    response.on('end', () => this.#finish(response, 'complete'));
    response.on('error', () => this.#finish(response, 'broken_off'));
    response.on('close', () => this.#finish(response, 'broken_off'));
  }

  #onData(chunk: Buffer): void {
    const room = this.#plan.answerBytesMax - this.#bytesReceived;
    this.#bytesReceived += chunk.length;
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length > room && this.#response) this.#finish(this.#response, 'too_long');
  }

  #finish(response: IncomingMessage, ended: Answer['ended']): void {
    if (!this.#end()) return;
    const text = Buffer.concat(this.#chunks).toString('utf8');
    this.#settle.resolve({ status: response.statusCode ?? 0, headers: response.headers, text, ended });
    // An answer that came before the request was fully sent, or that we stop reading, leaves the connection unusable.
    if (ended !== 'complete' || !this.#request.writableEnded) this.#tearDown();
  }

  #fail(reason: string): void {
    if (this.#response) this.#finish(this.#response, 'broken_off');
    else {
      // Headers are written first and only to a connected socket, so while they wait nothing has left.
      const phase = this.#request.headersSent ? 'unanswered' : 'surely_not_sent';
      this.#reject(new TransportFailure({ phase, reason }));
    }
  }

  #reject(failure: TransportFailure): void {
    if (!this.#end()) return;
    this.#settle.reject(failure);
    this.#tearDown();
  }

  /** True for the first caller only. */
  #end(): boolean {
    if (this.#settled) return false;
    this.#settled = true;
    clearTimeout(this.#deadline);
    clearTimeout(this.#connectDeadline);
    return true;
  }

  #tearDown(): void {
    this.#request.destroy();
    if (this.#isStream(this.#plan.body)) this.#plan.body.destroy();
  }

  #isStream(body: AttemptPlan['body']): body is Readable {
    return body !== null && typeof body !== 'string';
  }
}
