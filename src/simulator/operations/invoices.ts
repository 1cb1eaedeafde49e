import { z } from 'zod';
import { OPERATIONS } from '../../contracts/operations';
import { readFields } from '../fields';
import type { Charge } from '../pricing';
import type { JsonObject } from '../world';
import { findTow, towData, type Handler } from './handling';

// Service-api 2.6 gives one allowed value for each; every other one is an invalid enum value.
const createRequest = OPERATIONS.invoice.request.extend({ vehicle_type: z.enum(['HEAVY']) });
const paymentRequest = OPERATIONS.payment.request.extend({ payment_status: z.enum(['PAID']) });

/** Create tow invoice (service-api 4.3). Every accepted call makes another invoice and leads to its own webhook. */
export const invoice: Handler = ({ fields }, { world, invoiceCreated }) => {
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

/** Update tow invoice payment status (service-api 4.4). */
export const payment: Handler = ({ fields }, { world }) => {
  const read = readFields(fields, { schema: paymentRequest, zones: world });
  if ('refusal' in read) return read;
  const found = findTow(world, { towing_reference_id: read.value.towing_reference_id });
  if ('refusal' in found) return found;
  world.recordPayment(found.tow, read.value.payment_status);
  return { data: towData(found.tow) };
};

/** The answer has no numbers of the invoice; only the webhook carries them (service-api 2.6). */
function amounts({ total_amount, paid_amount, tax }: Charge): JsonObject {
  return { total_amount, paid_amount, tax };
}
