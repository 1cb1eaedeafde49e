import type { Command } from 'commander';
import { answerOf } from '../client';
import { correctionBody, reasonBody } from '../contracts/operator';
import { shownTow } from './tow-lines';
import { addVerb, checked, momentOption, numberOption, option, type Call, type Tools } from './verb';

const REPORT = 'TW-20261120-ABC123 started-1';
const REASON = option('--reason <text>', 'why, for the audit; never sent to the service');

const paramsOf = (call: Call) => ({
  path: { towing_reference_id: call.argument(0), report_id: call.argument(1) },
  header: call.header,
});

/** `towhook report …`: what a person decides about a report that the service refused or did not answer. */
export function addReport(program: Command, tools: Tools): void {
  const report = program
    .command('report')
    .summary('reports to the service: decide about one that is stuck')
    .description(
      'Reports to the service. `towhook tow show` lists those of a tow, `towhook task list` those that are stuck.',
    );
  addVerb(report, tools, {
    usage: 'retry <tow> <report>',
    summary: 'send it again now; also an accepted one, while its task answer_broken is open',
    examples: [`towhook report retry ${REPORT}`],
    changes: true,
    act: async (call) => {
      const url = '/api/tows/{towing_reference_id}/reports/{report_id}/retry';
      return shownTow(await answerOf(call.client.POST(url, { params: paramsOf(call) })));
    },
  });
  addVerb(report, tools, {
    usage: 'correct <tow> <report>',
    summary: 'change what it says, and send it; which fields it has depends on its kind',
    options: [
      option('--plate-number <plate>', 'of started'),
      option('--towed-location <place>', 'of started'),
      numberOption('--latitude <degrees>', 'of started'),
      numberOption('--longitude <degrees>', 'of started'),
      momentOption('--status-update-time <moment>', 'of started'),
      option('--cancellation-reason <text>', 'of canceled'),
      option('--vehicle-type <type>', 'of invoice'),
      numberOption('--delay-in-days <days>', 'of invoice'),
      option('--payment-status <status>', 'of payment'),
    ],
    examples: [`towhook report correct ${REPORT} --plate-number "ABC 1234"`],
    changes: true,
    act: async (call) => {
      const body = checked(correctionBody, {
        plate_number: call.text('plateNumber'),
        towed_location: call.text('towedLocation'),
        latitude: call.number('latitude'),
        longitude: call.number('longitude'),
        status_update_time: call.text('statusUpdateTime'),
        cancellation_reason: call.text('cancellationReason'),
        vehicle_type: call.text('vehicleType'),
        delay_in_days: call.number('delayInDays'),
        payment_status: call.text('paymentStatus'),
      });
      const url = '/api/tows/{towing_reference_id}/reports/{report_id}/correct';
      return shownTow(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
    },
  });
  addVerb(report, tools, {
    usage: 'waive <tow> <report>',
    summary: 'give it up, so that the next may leave',
    options: [REASON],
    examples: [`towhook report waive ${REPORT} --reason "told by phone"`],
    changes: true,
    act: async (call) => {
      const url = '/api/tows/{towing_reference_id}/reports/{report_id}/waive';
      const body = checked(reasonBody, { reason: call.text('reason') });
      return shownTow(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
    },
  });
  addVerb(report, tools, {
    usage: 'accept <tow> <report>',
    summary: 'take it as accepted, because you have seen it at the service',
    options: [REASON],
    examples: [`towhook report accept ${REPORT} --reason "seen in the service's own pages"`],
    changes: true,
    act: async (call) => {
      const url = '/api/tows/{towing_reference_id}/reports/{report_id}/accept';
      const body = checked(reasonBody, { reason: call.text('reason') });
      return shownTow(await answerOf(call.client.POST(url, { params: paramsOf(call), body })));
    },
  });
}
