import { advance } from '../../src/domain/advance';
import type { FactCommand } from '../../src/domain/fact-command';
import { isSettled } from '../../src/domain/outbox';
import type { Tow } from '../../src/domain/tow';
import { REPORT_STATES } from '../../src/domain/vocabulary';
import { COMMANDS, context, recorded, report, towAs } from './tows';

/** The body owed for a fact, as the very text of JSON: field names, order and values. */
function bodyText(tow: Tow, command: FactCommand): string {
  const reports = command.event === 'payment' ? [report('invoice', 'accepted')] : [];
  return JSON.stringify(recorded(advance(tow, command, context({ reports }))).owed.body);
}

const REFERENCES = '"violation_reference_id":"V-20260310-BBBBBB","towing_reference_id":"TW-20260310-AAAAAA"';

describe('the body of a report, in the order of service-api 4.2 to 4.4', () => {
  test('started: references, plate, place, coordinates, time', () => {
    const command = { ...COMMANDS.started, occurredAt: '2026-03-10T10:20:30Z' };

    expect(bodyText(towAs('requested'), command)).toBe(
      `{${REFERENCES},"plate_number":"ABJ 1234","towed_location":"King Fahd Road 12",` +
        '"latitude":24.7136,"longitude":46.6753,"status_update_time":"2026-03-10T10:20:30Z"}',
    );
  });

  test('detained: the references alone', () => {
    expect(bodyText(towAs('started'), COMMANDS.detained)).toBe(`{${REFERENCES}}`);
  });

  test('released: the references alone', () => {
    expect(bodyText(towAs('detained'), COMMANDS.released)).toBe(`{${REFERENCES}}`);
  });

  test('canceled: references and cancellation reason', () => {
    expect(bodyText(towAs('requested'), COMMANDS.canceled)).toBe(
      `{${REFERENCES},"cancellation_reason":"gone on arrival"}`,
    );
  });

  test('invoice: towing reference, vehicle type, days of delay', () => {
    expect(bodyText(towAs('detained'), { ...COMMANDS.invoice, delayInDays: 4, overrideReason: 'ours' })).toBe(
      '{"towing_reference_id":"TW-20260310-AAAAAA","vehicle_type":"HEAVY","delay_in_days":4}',
    );
  });

  test('payment: towing reference and payment status', () => {
    expect(bodyText(towAs('detained'), { event: 'payment', externalReference: 'POS 88' })).toBe(
      '{"towing_reference_id":"TW-20260310-AAAAAA","payment_status":"PAID"}',
    );
  });

  test.each(['requested', 'started', 'detained'] as const)('of a cancel is the same from %s', (state) => {
    const { owed } = recorded(advance(towAs(state), COMMANDS.canceled, context({ role: 'ops' })));

    expect(JSON.stringify(owed.body)).toBe(`{${REFERENCES},"cancellation_reason":"gone on arrival"}`);
  });
});

test('a report is settled when it was accepted or waived, and in no other state', () => {
  expect(REPORT_STATES.filter(isSettled)).toEqual(['accepted', 'waived']);
});
