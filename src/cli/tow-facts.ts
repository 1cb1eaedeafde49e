import type { Command } from 'commander';
import { answerOf } from '../client';
import { FACT_BODIES } from '../contracts/operator';
import { shownTow } from './tow-lines';
import { addVerb, checked, momentOption, numberOption, option, type Call, type Tools } from './verb';

const OCCURRED_AT = momentOption('--occurred-at <moment>', 'when it happened (now when left out)');
const REFERENCE = 'TW-20261120-ABC123';

const paramsOf = (call: Call) => ({ path: { towing_reference_id: call.argument(0) }, header: call.header });

/** What people say about a tow; each becomes a report to the service. */
export function addTowFacts(tow: Command, tools: Tools): void {
  addVerb(tow, tools, {
    usage: 'started <reference>',
    summary: 'the vehicle is hooked up; what its violation gives may be left out',
    options: [
      option('--plate-number <plate>', 'the plate'),
      option('--towed-location <place>', 'where it was taken from'),
      numberOption('--latitude <degrees>', 'from -90 to 90'),
      numberOption('--longitude <degrees>', 'from -180 to 180'),
      OCCURRED_AT,
    ],
    examples: [
      `towhook tow started ${REFERENCE}`,
      `towhook tow started ${REFERENCE} --plate-number "ABC 1234" --towed-location "Olaya Street" --latitude 24.69 --longitude 46.68`,
    ],
    changes: true,
    act: async (call) => {
      const body = checked(FACT_BODIES.started, {
        plate_number: call.text('plateNumber'),
        towed_location: call.text('towedLocation'),
        latitude: call.number('latitude'),
        longitude: call.number('longitude'),
        occurred_at: call.text('occurredAt'),
      });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/started', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'detained <reference>',
    summary: 'the vehicle stands in the yard',
    options: [OCCURRED_AT],
    examples: [`towhook tow detained ${REFERENCE} --occurred-at 2026-11-20T10:15:00+03:00`],
    changes: true,
    act: async (call) => {
      const body = checked(FACT_BODIES.detained, { occurred_at: call.text('occurredAt') });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/detained', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'canceled <reference>',
    summary: 'the tow is called off; from detained, or with an invoice, only by ops and with a reason',
    options: [
      option('--cancellation-reason <text>', 'why, as the service is told'),
      option('--reason <text>', 'why an invoiced or detained tow is canceled; for the audit'),
      OCCURRED_AT,
    ],
    examples: [`towhook tow canceled ${REFERENCE} --cancellation-reason "Vehicle gone on arrival"`],
    changes: true,
    act: async (call) => {
      const body = checked(FACT_BODIES.canceled, {
        cancellation_reason: call.text('cancellationReason'),
        reason: call.text('reason'),
        occurred_at: call.text('occurredAt'),
      });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/canceled', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'released <reference>',
    summary: 'the vehicle is handed back',
    options: [OCCURRED_AT],
    examples: [`towhook tow released ${REFERENCE}`],
    changes: true,
    act: async (call) => {
      const body = checked(FACT_BODIES.released, { occurred_at: call.text('occurredAt') });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/released', { params, body })));
    },
  });
  addMoney(tow, tools);
}

function addMoney(tow: Command, tools: Tools): void {
  addVerb(tow, tools, {
    usage: 'invoice <reference>',
    summary: 'ask the service for the invoice; days of delay are computed when left out',
    options: [
      option('--vehicle-type <type>', 'as the service names it').default('HEAVY'),
      numberOption('--delay-in-days <days>', 'instead of the computed days'),
      option('--override-reason <text>', 'why other days than the computed ones'),
    ],
    examples: [`towhook tow invoice ${REFERENCE}`, `towhook tow invoice ${REFERENCE} --delay-in-days 2`],
    changes: true,
    act: async (call) => {
      const body = checked(FACT_BODIES.invoice, {
        vehicle_type: call.text('vehicleType'),
        delay_in_days: call.number('delayInDays'),
        override_reason: call.text('overrideReason'),
      });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/invoice', { params, body })));
    },
  });
  addVerb(tow, tools, {
    usage: 'payment <reference>',
    summary: 'the invoice was paid',
    options: [
      option('--payment-status <status>', 'as the service names it; PAID when left out'),
      option('--external-reference <text>', 'of the payment, in your own books'),
      OCCURRED_AT,
    ],
    examples: [`towhook tow payment ${REFERENCE} --external-reference receipt-4711`],
    changes: true,
    act: async (call) => {
      const body = checked(FACT_BODIES.payment, {
        payment_status: call.text('paymentStatus'),
        external_reference: call.text('externalReference'),
        occurred_at: call.text('occurredAt'),
      });
      const params = paramsOf(call);
      return shownTow(await answerOf(call.client.POST('/api/tows/{towing_reference_id}/payment', { params, body })));
    },
  });
}
