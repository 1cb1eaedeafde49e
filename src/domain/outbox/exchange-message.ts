import type { EntryError } from './entry';
import {
  httpStatusOf,
  isUnreadableEncoding,
  type Exchange,
  type ForeignBody,
  type UnreadableEncoding,
} from '../service/policy';

/** The messages about exchanges. They are stored with entries and attempts, and quoted in tasks. */

const FOREIGN_BODY_MESSAGES: Readonly<Record<Exclude<ForeignBody, UnreadableEncoding>, string>> = {
  not_json: 'the body is not JSON',
  not_an_object: 'the body is no JSON object',
  broken_off: 'the body breaks off',
  too_long: 'the body is too long',
};

/** Describes a body that cannot come from the service, or cannot be read. */
export function foreignBodyMessage(cause: ForeignBody): string {
  if (!isUnreadableEncoding(cause)) return FOREIGN_BODY_MESSAGES[cause];
  return `the body has the encoding ${cause.slice('encoding_'.length)}, which cannot be read`;
}

/** Messages are stored several times: with the report, its attempts and tasks. */
const BROKEN_MESSAGE_MAX = 500;

/** Describes what happened, with the service's own message if it sent one. */
export function messageOf(exchange: Exchange): string {
  switch (exchange.kind) {
    case 'accepted':
      return 'accepted';
    case 'contract_broken':
      return `the answer breaks the contract: ${exchange.issues.join('; ')}`.slice(0, BROKEN_MESSAGE_MAX);
    case 'not_the_service':
      return `HTTP ${exchange.httpStatus}, and not from the service: ${foreignBodyMessage(exchange.cause)}`;
    case 'refused':
      return exchange.message ?? `HTTP ${exchange.httpStatus}`;
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
    case 'connection':
    case 'dropped':
      return exchange.cause;
  }
}

/** What happened as a code for logs: without the service's message, which may contain a plate. */
export function causeOf(exchange: Exchange): string {
  switch (exchange.kind) {
    case 'accepted':
    case 'contract_broken':
      return exchange.kind;
    case 'refused':
      return `http_${exchange.httpStatus}`;
    case 'not_the_service':
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
    case 'connection':
    case 'dropped':
      return exchange.cause;
  }
}

/** The message of a refusal: from the service, or a description of the page in its place. */
export function refusalMessage(exchange: Exchange): string | null {
  if (exchange.kind === 'not_the_service') return foreignBodyMessage(exchange.cause);
  return exchange.kind === 'refused' ? exchange.message : null;
}

/** The error that is stored with an entry after an exchange that did not accept it. */
export function errorOf(exchange: Exchange): EntryError {
  return { http_status: httpStatusOf(exchange), message: messageOf(exchange) };
}
