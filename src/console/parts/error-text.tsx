import type { EntryError } from '../../domain/outbox/entry';
import { isUnreadableEncoding } from '../../domain/service/policy';
import { tlsTroubleOf } from '../../platform/errors';
import { valueUnder, type Messages } from '../messages';
import type { Viewer } from '../viewer';
import { Foldable, UserText } from './text';

/** Why a call failed, for people: in the words of the service, or as a sentence for a cause that towhook names by a code. */

/** A cause as a sentence, and the code or text that is stored for it. */
export interface Cause {
  readonly text: string;
  readonly code: string;
}

interface ErrorProps {
  readonly viewer: Viewer;
  readonly error: EntryError;
}

/** The codes of a transport are one word (`transportFailureReason` in src/service), maybe with the name of an encoding. */
const CODE = /^[a-z][\w-]*$/;

/** Causes that are stored as English sentences. */
const SENTENCES = [
  [/^the worker was lost while sending$/, 'worker_lost'],
  [/^not sent: the claim expired/, 'permission_expired'],
  [/^HTTP \d+, and not from the service: /, 'not_the_service'],
  [/^the answer breaks the contract: /, 'contract_broken'],
] as const satisfies readonly (readonly [RegExp, keyof Messages['causes']['codes']])[];

/** The cause that towhook stored as an error; null for a message of the service. */
export function causeOf({ causes }: Messages, { http_status: status, message }: EntryError): Cause | null {
  const sentence = SENTENCES.find(([pattern]) => pattern.test(message));
  if (sentence) return { text: causes.codes[sentence[1]], code: message };
  // An answer with a status has a message of the service, which may be one word too.
  if (status !== null || !CODE.test(message)) return null;
  return { text: textOfCode(causes, message), code: message };
}

function textOfCode(causes: Messages['causes'], code: string): string {
  const known = valueUnder(causes.codes, code);
  if (known !== null) return known;
  if (code.startsWith('token_http_4')) return causes.codes.token_refused;
  if (code.startsWith('token_')) return causes.token({ cause: textOfCode(causes, code.slice('token_'.length)) });
  if (code.startsWith('proxy_')) return causes.codes.proxy;
  if (code.startsWith('unreadable_')) return causes.codes.unreadable;
  if (isUnreadableEncoding(code)) return causes.codes.encoding;
  if (!code.startsWith('tls_')) return causes.codes.failed;
  return causes.codes[tlsTroubleOf(code) ?? 'tls'];
}

/** The status and message of the last error, shortened: `HTTP 503: Internal Server Error`. */
export function ErrorText({ viewer, error }: ErrorProps) {
  return <Shown viewer={viewer} error={error} limit={TEXT_SHOWN} />;
}

/** The error with at most 120 characters of its message, about two lines of a list. */
export function ShortErrorText({ viewer, error }: ErrorProps) {
  return <Shown viewer={viewer} error={error} limit={SHORT_MESSAGE} />;
}

const TEXT_SHOWN = 200;
const SHORT_MESSAGE = 120;

function Shown({ viewer, error, limit }: ErrorProps & { limit: number }) {
  const whole = errorText(viewer, error);
  const short = whole.length > limit ? `${whole.slice(0, limit)}…` : whole;
  const title = causeOf(viewer.messages, error)?.code ?? (short === whole ? null : whole);
  if (title === null) return <UserText>{whole}</UserText>;
  return (
    <bdi dir="auto" title={title}>
      {short}
    </bdi>
  );
}

/** The whole error, folded if long. Must not be inside a paragraph. */
export function FoldedErrorText({ viewer, error }: ErrorProps) {
  return <Foldable>{errorText(viewer, error)}</Foldable>;
}

function errorText({ messages }: Viewer, error: EntryError): string {
  const cause = causeOf(messages, error);
  const message = cause?.text ?? error.message;
  const status = error.http_status === null ? null : `HTTP ${error.http_status}`;
  if (status === null) return message;
  return message === '' || message === status ? status : `${status}: ${message}`;
}
