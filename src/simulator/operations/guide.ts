import { z } from 'zod';
import { OPERATIONS } from '../../contracts/operations';
import { readFields } from '../fields';
import { REFUSALS } from '../refusals';
import type { Handler } from './handling';

const SLOTS_MAX = 120;

/** Get token (service-api 4.5, 5): anything but the client's own credentials is unauthorized. */
export const token: Handler = ({ header }, { access }) => {
  const issued = access.issue(header('x-client-id'), header('x-client-secret'));
  return issued === null ? { refusal: REFUSALS.unauthorized } : { data: { token: issued } };
};

/** Site capacity (service-api 4.5); a zone always has the same number of free slots. */
export const capacity: Handler = ({ fields }, { world }) => {
  const read = readFields(fields, {
    schema: OPERATIONS.capacity.request.extend({ zoneId: z.string() }),
    zones: world,
  });
  if ('refusal' in read) return read;
  const { zoneId } = read.value;
  return { data: { zoneId, availableSlots: Number.parseInt(zoneId.slice(-6), 16) % SLOTS_MAX } };
};

/** Active ticket check (service-api 4.5); a plate whose last digit is even has an active ticket. */
export const ticket: Handler = ({ fields }, { world }) => {
  const read = readFields(fields, {
    schema: OPERATIONS.ticket.request.extend({ zoneId: z.string() }),
    zones: world,
  });
  if ('refusal' in read) return read;
  const lastDigit = /\d(?=\D*$)/.exec(read.value.plateNumber)?.[0];
  return { data: { hasActiveTicket: lastDigit !== undefined && Number(lastDigit) % 2 === 0 } };
};
