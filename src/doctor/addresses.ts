import type { Finding } from '../cli';
import { OPERATIONS } from '../contracts/service/operations';
import { OPERATION_NAMES } from '../domain/vocabulary';
import type { Config, ServiceAccess } from '../platform/config/config';
import { callAddresses } from '../service';
import { VIOLATION_OPERATIONS } from '../workflow/service/service-port';
import { notesOf } from './finding';

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
