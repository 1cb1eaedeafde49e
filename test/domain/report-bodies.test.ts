import { advance } from '../../src/domain/tow/facts';
import type { FactCommand } from '../../src/domain/tow/fact-command';
import { isSettled } from '../../src/domain/outbox/outbox';
import type { Tow } from '../../src/domain/tow/tow';
import { REPORT_STATES } from '../../src/domain/vocabulary';
import { COMMANDS, context, recorded, report, towAs } from './tows';

/** The body owed for a fact, as the very text of JSON: field names, order and values. */
function bodyText(tow: Tow, command: FactCommand): string {
  const reports = command.event === 'payment' ? [report('invoice', 'accepted')] : [];
  return JSON.stringify(recorded(advance(tow, command, context({ reports }))).owed.body);
}

const REFERENCES = '"violation_reference_id":"V-20260310-BBBBBB","towing_reference_id":"TW-20260310-AAAAAA"';

describe('bodies of reports', () => {
  test('the body of started has references, plate, place, coordinates and time, in the documented order', () => {
    const command = { ...COMMANDS.started, occurredAt: '2026-03-10T10:20:30Z' };

    expect(bodyText(towAs('requested'), command)).toBe(
      `{${REFERENCES},"plate_number":"ABJ 1234","towed_location":"King Fahd Road 12",` +
        '"latitude":24.7136,"longitude":46.6753,"status_update_time":"2026-03-10T10:20:30Z"}',
    );
  });

  test('the body of detained has the references alone', () => {
    expect(bodyText(towAs('started'), COMMANDS.detained)).toBe(`{${REFERENCES}}`);
  });

  test('the body of released has the references alone', () => {
    expect(bodyText(towAs('detained'), COMMANDS.released)).toBe(`{${REFERENCES}}`);
  });

  test('the body of canceled has the references and the cancellation reason, in the documented order', () => {
    expect(bodyText(towAs('requested'), COMMANDS.canceled)).toBe(
      `{${REFERENCES},"cancellation_reason":"gone on arrival"}`,
    );
  });

  test('the body of invoice has the towing reference, vehicle type and days of delay, in the documented order', () => {
    expect(bodyText(towAs('detained'), { ...COMMANDS.invoice, delayInDays: 4, overrideReason: 'ours' })).toBe(
      '{"towing_reference_id":"TW-20260310-AAAAAA","vehicle_type":"HEAVY","delay_in_days":4}',
    );
  });

  test('the body of payment has the towing reference and payment status, in the documented order', () => {
    expect(bodyText(towAs('detained'), { event: 'payment', externalReference: 'POS 88' })).toBe(
      '{"towing_reference_id":"TW-20260310-AAAAAA","payment_status":"PAID"}',
    );
  });

  test.each(['requested', 'started', 'detained'] as const)('the body of a cancel is the same from %s', (state) => {
    const { owed } = recorded(advance(towAs(state), COMMANDS.canceled, context({ role: 'ops' })));

    expect(JSON.stringify(owed.body)).toBe(`{${REFERENCES},"cancellation_reason":"gone on arrival"}`);
  });
});

test('a report is settled when it was accepted or waived, and in no other state', () => {
  expect(REPORT_STATES.filter(isSettled)).toEqual(['accepted', 'waived']);
});
