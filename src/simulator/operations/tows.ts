import { z } from 'zod';
import { OPERATIONS } from '../../contracts/service/operations';
import { readFields } from '../fields';
import type { Charge } from '../pricing';
import type { ServiceProfile } from '../profile';
import { REFUSALS } from '../answer/faults';
import type { TowStatus, WireObject } from '../world';
import { findTow, towData, type OperationHandler } from './handling';

/**
 * The status updates of a tow (docs/service-api.md#tow-status-updates). Any order and repetition is accepted, because
 * none is documented.
 */
export const started = statusUpdate('started');
export const detained = statusUpdate('detained');
export const canceled = statusUpdate('canceled');
export const released = statusUpdate('released');

function statusUpdate(status: TowStatus): OperationHandler {
  return ({ fields }, { world, profile }) => {
    const read = readFields(fields, { schema: OPERATIONS[status].request, zones: world });
    if ('refusal' in read) return read;
    if (status === 'started' && !UTC_TIMES[profile.current.timestamps].test(String(fields['status_update_time']))) {
      return { refusal: REFUSALS.missingField, field: 'status_update_time' };
    }
    const found = findTow(world, read.value);
    if ('refusal' in found) return found;
    const { tow } = found;
    if (status === 'started' && world.violation(tow.violationReference)?.plateNumber === null) {
      return { refusal: REFUSALS.plateNotFound, field: 'violation_reference_id' };
    }
    world.recordStatus(tow, status);
    return { data: towData(tow) };
  };
}

/** ISO 8601 in UTC (docs/service-api.md#tow-started). A value in another form counts as missing: no other error fits. */
const UTC_TIMES = {
  utc: /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]00:?00)$/,
  utc_whole_seconds: /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/,
} as const satisfies Record<ServiceProfile['timestamps'], RegExp>;

// docs/service-api.md#invoices gives one allowed value for each; every other one is an invalid enum value.
const createRequest = OPERATIONS.invoice.request.extend({ vehicle_type: z.enum(['HEAVY']) });
const paymentRequest = OPERATIONS.payment.request.extend({ payment_status: z.enum(['PAID']) });

/**
 * Create tow invoice (docs/service-api.md#create-tow-invoice). Every accepted call creates another invoice with its own
 * webhook.
 */
export const invoice: OperationHandler = ({ fields }, { world, invoiceCreated }) => {
  const read = readFields(fields, { schema: createRequest, zones: world });
  if ('refusal' in read) return read;
  const found = findTow(world, { towing_reference_id: read.value.towing_reference_id });
  if ('refusal' in found) return found;
  const { tow } = found;
  const created = world.createInvoice(tow, read.value.delay_in_days);
  invoiceCreated(tow, created);
  return {
    data: {
      ...towData(tow),
      towing_invoice: amounts(created.towing_invoice),
      delay_invoice: amounts(created.delay_invoice),
    },
  };
};

/** Update tow invoice payment status (docs/service-api.md#update-payment-status). */
export const payment: OperationHandler = ({ fields }, { world }) => {
  const read = readFields(fields, { schema: paymentRequest, zones: world });
  if ('refusal' in read) return read;
  const found = findTow(world, { towing_reference_id: read.value.towing_reference_id });
  if ('refusal' in found) return found;
  world.recordPayment(found.tow, read.value.payment_status);
  return { data: towData(found.tow) };
};

/** The answer has no amounts; only the webhook carries them (docs/service-api.md#invoices). */
function amounts({ total_amount, paid_amount, tax }: Charge): WireObject {
  return { total_amount, paid_amount, tax };
}
