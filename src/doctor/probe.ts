import type { Finding } from '../cli';
import { OPERATIONS, type OperationName } from '../contracts/service/operations';
import { foreignBodyMessage } from '../domain/outbox/exchange-message';
import type { Exchange } from '../domain/service/policy';
import type { Config, ServiceAccess } from '../platform/config/config';
import { callAddresses, type Probe, type ServiceClient } from '../service';
import { notesOf } from './finding';
import { OPERATION_NAMES } from '../domain/vocabulary';
import { VIOLATION_OPERATIONS } from '../workflow/service/service-port';

const notes = notesOf('operation');

/** An operation, where it is called, and what the probe showed. */
interface ProbedOperation {
  readonly name: OperationName;
  readonly url: string;
  readonly probe: Probe;
}

/**
 * Tries each operation without effect, and names what is wrong: one address, the prefix of all, a permission. Needs a
 * working token. What creates something is only asked for with OPTIONS, so its permission is not proved.
 */
export async function probeFindings(config: Config, access: ServiceAccess, client: ServiceClient): Promise<Finding[]> {
  const addressOf = callAddresses(access.baseUrl, access.paths);
  const names = operationsInUse(config).filter((name) => name !== 'token');
  const probed = await Promise.all(
    names.map(async (name) => ({ name, url: addressOf(name).url, probe: await client.probe(name) })),
  );
  const answersOptions = probed.some(({ probe }) => probe.kind === 'options' && !isNoAddress(probe.exchange));
  const isPrefixWrong = probed.every(
    ({ probe, name }) => isNoAddress(probe.exchange) && access.paths[name] === undefined,
  );
  if (isPrefixWrong) return [prefixWrong(probed.length)];
  return probed.map((operation) => findingOf(operation, answersOptions));
}

function findingOf({ name, url, probe }: ProbedOperation, answersOptions: boolean): Finding {
  if (probe.kind === 'call') return calledFinding({ name, url, exchange: probe.exchange });
  return optionsFinding({ name, url, probe }, answersOptions);
}

function prefixWrong(count: number): Finding {
  return notes.fault(
    'service_address_wrong',
    `none of the ${count} operations but the token has an address at the service`,
    'SERVICE_BASE_URL must carry the whole path prefix of the service. If only the token call has another address, set that in SERVICE_PATHS.',
  );
}

interface CalledOperation {
  readonly name: OperationName;
  readonly url: string;
  readonly exchange: Exchange;
}

/** The finding for a call that changes nothing. A service that keeps its document refuses most of them with 400. */
function calledFinding({ name, url, exchange }: CalledOperation): Finding {
  const right = (how: string) =>
    notes.fine('operation_right', `${name}: ${url} ${how}: address and permission are right`);
  if (isNoAddress(exchange)) return addressWrong(name, url, `${statusOf(exchange)}`);
  switch (exchange.kind) {
    case 'accepted':
    case 'contract_broken':
      return right('answers');
    case 'not_the_service':
      return addressWrong(name, url, `${exchange.httpStatus}, ${foreignBodyMessage(exchange.cause)}`);
    case 'refused':
      if (exchange.httpStatus === 403) return forbidden(name, exchange.message);
      if (exchange.httpStatus === 429 || exchange.httpStatus >= 500)
        return unclear(name, `answers ${exchange.httpStatus}`);
      return right(
        `refuses a call about nothing with ${exchange.httpStatus}${exchange.message ? ` ${exchange.message}` : ''}`,
      );
    case 'connection':
      return notes.fault(
        'operation_token_refused',
        `${name}: ${url} does not accept a new token (${exchange.cause})`,
        `Check that ${url} belongs to the same service as the token, and ask its administration.`,
      );
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
      return notes.fault(
        'operation_unreachable',
        `${name}: ${url} does not answer: ${exchange.cause.replaceAll('_', ' ')}`,
        'Check host and port of this address, name resolution, firewalls and proxies between here and there.',
      );
    case 'dropped':
      return notes.skipped(
        'operation_not_proved',
        `${name}: the budget of its calls is used up; try again in a minute`,
      );
  }
}

/**
 * The finding for an operation that creates something. It is proved to be there when the service answers OPTIONS to it
 * otherwise than to an address that does not exist.
 */
function optionsFinding(
  { name, url, probe }: ProbedOperation & { readonly probe: Extract<Probe, { kind: 'options' }> },
  answersOptions: boolean,
): Finding {
  const [here, elsewhere] = [statusOf(probe.exchange), statusOf(probe.elsewhere)];
  if (isNoAddress(probe.exchange) && answersOptions) return addressWrong(name, url, `${here} to OPTIONS`);
  if (here === null || here === elsewhere || isNoAddress(probe.exchange)) {
    return unclear(
      name,
      `was not called, because a call creates something; OPTIONS proves nothing (${here ?? 'no answer'})`,
    );
  }
  const what = `${name}: ${url} is there (OPTIONS: ${here}); its permission is proved by the first real call`;
  return notes.fine('operation_there', what);
}

function addressWrong(name: OperationName, url: string, answer: string): Finding {
  return notes.fault(
    'operation_address_wrong',
    `${name}: the service has nothing at ${OPERATIONS[name].method} ${url} (${answer})`,
    `Ask for the address of this operation, and set it: SERVICE_PATHS={"${name}":"/path/below/the/base/address"}.`,
  );
}

function forbidden(name: OperationName, message: string | null): Finding {
  return notes.fault(
    'operation_forbidden',
    `${name}: the credentials have no permission for it (403${message ? ` ${message}` : ''})`,
    `Ask the administration of the service for the permission for this operation.`,
  );
}

function unclear(name: OperationName, why: string): Finding {
  return notes.skipped('operation_not_proved', `${name}: ${why}`);
}

function statusOf(exchange: Exchange): number | null {
  return 'httpStatus' in exchange ? exchange.httpStatus : null;
}

/** Messages of a service that was reached and did not find what the call is about. */
const NOTHING_FOUND = /(zone|plate|violation|tow\w*|ticket|vehicle|invoice)\b.*not found/i;

/** True for an answer that means that nothing is at an address. */
function isNoAddress(exchange: Exchange): boolean {
  if (exchange.kind !== 'refused') return false;
  const { httpStatus, message } = exchange;
  if (httpStatus === 404) return !NOTHING_FOUND.test(message ?? '') || /cannot|route|path|url/i.test(message ?? '');
  return httpStatus < 400 || httpStatus === 405 || httpStatus === 501;
}

/** The operations that this configuration calls: one of the two that create a violation, and all others. */
export function operationsInUse({ violations }: Config) {
  const used: string = VIOLATION_OPERATIONS[violations.api];
  const creating: readonly string[] = Object.values(VIOLATION_OPERATIONS);
  return OPERATION_NAMES.filter((name) => name === used || !creating.includes(name));
}

/** The address of each operation, with `SERVICE_PATHS` applied. They were checked with the configuration. */
export function addressFindings(config: Config, { baseUrl, paths }: ServiceAccess): Finding[] {
  const addressOf = callAddresses(baseUrl, paths);
  return operationsInUse(config).map((name) =>
    notesOf('address').fine(
      paths[name] === undefined ? 'address_documented' : 'address_configured',
      `${name}: ${OPERATIONS[name].method} ${addressOf(name).url}`,
    ),
  );
}
