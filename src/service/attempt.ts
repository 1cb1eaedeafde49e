import { request as requestPlain, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { request as requestSecure, type RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { UnreadableEncoding } from '../domain/service/policy';
import { afterReading } from '../platform/timers';
import { decodedBody, textOf } from './content-encoding';
import { TransportFailure, type ConnectionStage, type FailedPhase, type FailureReason } from './transport-failure';

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
  /**
   * The longest time without a byte sent or received, ms; null where only the deadline counts. After the last byte of the
   * body was handed over, the time that it takes on a slow line is added.
   */
  readonly silenceMs: number | null;
  readonly connectTimeoutMs: number;
  /** Longer answers are cut here. */
  readonly answerBytesMax: number;
  /** Asked once, on an open connection, right before the first byte is written; may wait. Never rejects. */
  readonly permission: () => Promise<SendPermission>;
  /** Ends the attempt when it aborts. */
  readonly stop?: AbortSignal | undefined;
  /** Asked before each piece of a streamed body; false ends the attempt. */
  readonly mayGoOn?: (() => boolean) | undefined;
}

/** Whether a call may be sent now. If not, `notBeforeMs` is when it may be; null when the right to send is too old. */
export type SendPermission =
  | { readonly granted: true }
  | { readonly granted: false; readonly notBeforeMs: number | null };

/** An answer whose status line arrived. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Decoded (content-encoding.ts), as it came if that is not possible. */
  readonly text: string;
  /** `broken_off`: the connection ended or the deadline passed inside the body. `too_long`: we stopped reading. */
  readonly ended: 'complete' | 'broken_off' | 'too_long' | UnreadableEncoding;
  /** Whether it ended before the last byte of a streamed body was handed over; nothing is sent after it. */
  readonly isPartlySent: boolean;
}

/**
 * A streamed body is handed to the socket in pieces of this size, each after the one before has left the process. So it is
 * known at any time whether the last byte can have left, and small pieces show progress on a slow line.
 */
const PIECE_BYTES = 16 * 1024;
/** 1 Mbit/s. The system and proxies may have taken the whole body before the line has carried it. */
const SLOW_LINE_BYTES_PER_MS = 125;

type Settle = { readonly resolve: (answer: HttpAnswer) => void; readonly reject: (failure: TransportFailure) => void };

/**
 * Makes one request on one connection and settles exactly once. Resolves as soon as a status line arrived, however the
 * body then ended; rejects with a TransportFailure when none did, or when it came before a byte of the request was sent.
 *
 * Nothing is written before the socket is connected (and secured), so that "surely not sent" is a fact and not a guess,
 * and the permission is requested right before the first byte.
 */
export function runAttempt(plan: AttemptPlan): Promise<HttpAnswer> {
  return new Promise((resolve, reject) => {
    const request = plan.secure ? requestSecure(plan.options) : requestPlain(plan.options);
    new HttpAttempt(plan, request, { resolve, reject }).start();
  });
}

class HttpAttempt {
  readonly #plan: AttemptPlan;
  readonly #request: ClientRequest;
  readonly #settle: Settle;
  #stage: ConnectionStage = 'connecting';
  #settled = false;
  #response: IncomingMessage | null = null;
  /** Bytes of a streamed body that were handed to the socket. */
  #bytesHandedOver = 0;
  readonly #chunks: Buffer[] = [];
  #bytesReceived = 0;
  /** The deadline has passed: what has arrived is still read, and nothing more is written. */
  #isLate = false;
  #cancelDeadline = (): void => {};
  #connectDeadline: NodeJS.Timeout | undefined;
  #cancelSilence = (): void => {};
  readonly #stop = () => this.#fail('stopped');

  constructor(plan: AttemptPlan, request: ClientRequest, settle: Settle) {
    this.#plan = plan;
    this.#request = request;
    this.#settle = settle;
  }

  start(): void {
    this.#cancelDeadline = afterReading(
      this.#plan.timeoutMs,
      () => this.#fail(this.#stage === 'connected' ? 'timeout' : 'connect_timeout'),
      () => (this.#isLate = true),
    );
    this.#request.on('socket', (socket) => this.#onSocket(socket));
    this.#request.on('response', (response) => this.#onResponse(response));
    this.#request.on('error', (error) => this.#fail({ error, stage: this.#stage }));
    if (isStream(this.#plan.body)) this.#plan.body.on('error', () => this.#fail('body_unreadable'));
    this.#plan.stop?.addEventListener('abort', this.#stop);
    if (this.#plan.stop?.aborted === true) this.#stop();
  }

  #onSocket(socket: Socket): void {
    if (this.#request.reusedSocket) {
      void this.#sendIfPermitted();
      return;
    }
    const isTunnel = !socket.connecting;
    if (isTunnel && !this.#plan.secure) {
      void this.#sendIfPermitted();
      return;
    }
    this.#connectDeadline = setTimeout(() => this.#fail('connect_timeout'), this.#plan.connectTimeoutMs);
    if (isTunnel) this.#stage = 'securing';
    else if (this.#plan.secure) socket.once('connect', () => (this.#stage = 'securing'));
    // The secureConnect event comes after the certificate was checked.
    socket.once(this.#plan.secure ? 'secureConnect' : 'connect', () => void this.#sendIfPermitted());
  }

  async #sendIfPermitted(): Promise<void> {
    clearTimeout(this.#connectDeadline);
    this.#stage = 'connected';
    if (this.#settled || this.#isLate) return;
    const permission = await this.#plan.permission();
    // While it was asked for, the connection may have been closed or the deadline may have passed.
    if (this.#settled || this.#isLate) return;
    if (permission.granted) this.#write();
    else {
      const { notBeforeMs } = permission;
      this.#reject(new TransportFailure({ phase: 'dropped', reason: 'not_permitted', notBeforeMs }));
    }
  }

  #write(): void {
    const { body } = this.#plan;
    this.#expectProgress();
    if (isStream(body)) void this.#writeStream(body).catch(() => this.#fail('body_unreadable'));
    else this.#request.end(body ?? undefined);
  }

  /**
   * Hands over one piece after the other. A body of another length than announced would leave the service waiting, or read
   * as the start of a next request.
   */
  async #writeStream(body: Readable): Promise<void> {
    const { bodyBytes } = this.#plan;
    const chunks: AsyncIterable<unknown> = body;
    for await (const chunk of chunks) {
      for (const piece of piecesOf(chunk)) {
        if (this.#settled || this.#isLate) return;
        if (this.#plan.mayGoOn?.() === false) return this.#fail('stopped');
        if (this.#bytesHandedOver + piece.length > bodyBytes) return this.#fail('body_length_wrong');
        this.#bytesHandedOver += piece.length;
        await new Promise((resolve) => this.#request.write(piece, resolve));
        this.#expectProgress();
      }
    }
    if (this.#bytesHandedOver < bodyBytes) this.#fail('body_length_wrong');
    else if (!this.#settled) this.#request.end();
  }

  /** Starts the time without progress again. */
  #expectProgress(): void {
    this.#cancelSilence();
    const { silenceMs, bodyBytes } = this.#plan;
    if (silenceMs === null || this.#settled) return;
    const lineMs = this.#isIncomplete() ? 0 : bodyBytes / SLOW_LINE_BYTES_PER_MS;
    this.#cancelSilence = afterReading(silenceMs + lineMs, () => this.#fail('stalled'));
  }

  /** True while the last byte of a streamed body cannot have left. */
  #isIncomplete(): boolean {
    return isStream(this.#plan.body) && this.#bytesHandedOver < this.#plan.bodyBytes;
  }

  #onResponse(response: IncomingMessage): void {
    // It may be meant for an earlier call of the connection, or for none, such as the 408 of an idle one.
    if (!this.#request.headersSent) return this.#fail('answered_early');
    this.#response = response;
    this.#expectProgress();
    response.on('data', (chunk: Buffer) => this.#onData(chunk));
    response.on('end', () => this.#finish(response, 'complete'));
    response.on('error', () => this.#finish(response, 'broken_off'));
    response.on('close', () => this.#finish(response, 'broken_off'));
  }

  #onData(chunk: Buffer): void {
    const room = this.#plan.answerBytesMax - this.#bytesReceived;
    this.#bytesReceived += chunk.length;
    this.#expectProgress();
    this.#chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    if (chunk.length > room && this.#response) this.#finish(this.#response, 'too_long');
  }

  #finish(response: IncomingMessage, ended: HttpAnswer['ended']): void {
    if (!this.#end()) return;
    const { statusCode: status = 0, headers } = response;
    const whole = Buffer.concat(this.#chunks);
    const encoding = ended === 'complete' ? headers['content-encoding'] : undefined;
    const decoded =
      encoding === undefined ? { body: whole, ended } : decodedBody(whole, encoding, this.#plan.answerBytesMax);
    const text = textOf(decoded.body, headers['content-type']);
    this.#settle.resolve({ status, headers, text, ended: decoded.ended, isPartlySent: this.#isIncomplete() });
    // An answer that came before the request was fully sent, or that we stop reading, leaves the connection unusable.
    if (ended !== 'complete' || !this.#request.writableEnded) this.#tearDown();
  }

  #fail(reason: FailureReason): void {
    if (this.#response) this.#finish(this.#response, 'broken_off');
    else {
      this.#reject(new TransportFailure({ phase: this.#failedPhase(), reason }));
    }
  }

  #failedPhase(): Exclude<FailedPhase, 'dropped'> {
    // Headers are written first and only to a connected socket, so while they wait nothing has left.
    if (!this.#request.headersSent) return 'surely_not_sent';
    return this.#isIncomplete() ? 'partly_sent' : 'unanswered';
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
    this.#cancelDeadline();
    clearTimeout(this.#connectDeadline);
    this.#cancelSilence();
    this.#plan.stop?.removeEventListener('abort', this.#stop);
    return true;
  }

  #tearDown(): void {
    this.#request.destroy();
    if (isStream(this.#plan.body)) this.#plan.body.destroy();
  }
}

function isStream(body: AttemptPlan['body']): body is Readable {
  return body !== null && typeof body !== 'string';
}

function* piecesOf(chunk: unknown): Generator<Buffer> {
  const bytes = Buffer.isBuffer(chunk) ? chunk : Buffer.from(String(chunk));
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
