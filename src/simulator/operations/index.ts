import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../../contracts/service/operations';
import { readFields } from '../fields';
import { REFUSALS } from '../answer/faults';
import type { OperationHandler } from './handling';
import * as towHandlers from './tows';
import { violation, violationGuide } from './violations';

const SLOTS_MAX = 120;

/** Get token (docs/service-api.md#get-token): only the client's own credentials are authorized. */
const token: OperationHandler = ({ header }, { access, profile }) => {
  const issued = access.issue(header('x-client-id'), header('x-client-secret'));
  if (issued === null) return { refusal: REFUSALS.unauthorized };
  const { token_place, token_with_bearer, token_expires_in } = profile.current;
  return {
    data: {
      [token_place.replace('data.', '')]: token_with_bearer ? `Bearer ${issued.token}` : issued.token,
      ...(token_expires_in ? { expires_in: Math.floor(issued.lifetimeMs / 1000) } : {}),
    },
  };
};

/** Site capacity (docs/service-api.md#site-capacity); a zone always has the same number of free places. */
const capacity: OperationHandler = ({ fields }, { world }) => {
  const read = readFields(fields, {
    schema: OPERATIONS.capacity.request.extend({ zoneId: z.string() }),
    zones: world,
  });
  if ('refusal' in read) return read;
  const { zoneId } = read.value;
  return { data: { zoneId, availableSlots: Number.parseInt(zoneId.slice(-6), 16) % SLOTS_MAX } };
};

/**
 * Active ticket check (docs/service-api.md#active-ticket-check): a plate whose last digit is even has an active ticket.
 */
const ticket: OperationHandler = ({ fields }, { world }) => {
  const read = readFields(fields, {
    schema: OPERATIONS.ticket.request.extend({ zoneId: z.string() }),
    zones: world,
  });
  if ('refusal' in read) return read;
  const lastDigit = /\d(?=\D*$)/.exec(read.value.plateNumber)?.[0];
  return { data: { hasActiveTicket: lastDigit !== undefined && Number(lastDigit) % 2 === 0 } };
};

/** The handlers of all operations of the table. */
export const HANDLERS: Readonly<Record<OperationName, OperationHandler>> = {
  token,
  ...towHandlers,
  violation,
  violation_guide: violationGuide,
  capacity,
  ticket,
};
