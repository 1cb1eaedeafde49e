import { advance } from '../../src/domain/tow/facts';
import type { ReportStatus } from '../../src/domain/outbox/outbox';
import type { Tow } from '../../src/domain/tow/tow';
import { beingSent, COMMANDS, context, INVOICE_WEBHOOK, perhapsDone, recorded, refusalOf, report, towAs } from './tows';

const started = towAs('started');
const withReason = { ...COMMANDS.canceled, reason: 'agreed with the service by phone' };

describe('cancel', () => {
  test.each(['requested', 'started'] as const)('a dispatcher may cancel a tow that is %s', (state) => {
    const { tow } = recorded(advance(towAs(state), COMMANDS.canceled, context()));

    expect(tow).toMatchObject({ state: 'canceled', cancellationReason: 'gone on arrival' });
  });

  test('only ops may cancel a detained tow', () => {
    expect(refusalOf(advance(towAs('detained'), withReason, context({ role: 'dispatcher' })))).toMatchObject({
      kind: 'forbidden',
      code: 'role_not_allowed',
    });
    expect(recorded(advance(towAs('detained'), COMMANDS.canceled, context({ role: 'ops' }))).tow.state).toBe(
      'canceled',
    );
  });

  test('a cancel without a cancellation reason for the service is refused', () => {
    const command = { event: 'canceled', cancellationReason: '  ' } as const;

    expect(refusalOf(advance(started, command, context())).details).toEqual([
      { field: 'cancellation_reason', rule: 'must not be empty' },
    ]);
  });

  test('a cancel sends the cancellation reason trimmed and never the internal reason', () => {
    const command = { ...withReason, cancellationReason: ' owner came ' };
    const { owed } = recorded(advance(started, command, context({ role: 'ops' })));

    expect(owed.body['cancellation_reason']).toBe('owner came');
    expect(JSON.stringify(owed)).not.toContain('phone');
  });

  test('a cancel keeps the known plate and place of the tow', () => {
    const { tow } = recorded(advance(started, COMMANDS.canceled, context()));

    expect(tow).toMatchObject({ plateNumber: started.plateNumber, towedLocation: started.towedLocation });
  });
});

describe('reports that a cancel withdraws', () => {
  const withdrawn = (reports: ReportStatus[]) =>
    recorded(advance(started, withReason, context({ reports, role: 'ops' }))).withdraw;

  test('a cancel withdraws an invoice and a payment that were never attempted', () => {
    const reports = [report('started', 'pending'), report('invoice', 'pending'), report('payment', 'pending')];

    expect(withdrawn(reports)).toEqual(['invoice-1', 'payment-1']);
  });

  test('a cancel never withdraws a started or detained report', () => {
    expect(withdrawn([report('started', 'pending'), report('detained', 'pending')])).toEqual([]);
  });

  test.each(['sending', 'accepted', 'refused', 'unknown', 'waived'] as const)(
    'a cancel withdraws no invoice and no payment that is %s',
    (state) => {
      expect(withdrawn([report('invoice', state), report('payment', state)])).toEqual([]);
    },
  );

  test.each([
    ['was attempted, may have worked and waits for its next attempt', perhapsDone],
    ['is being sent right now', beingSent],
  ])('a cancel withdraws no invoice and no payment that %s', (_what, become) => {
    expect(withdrawn([report('invoice', 'pending'), report('payment', 'pending')].map(become))).toEqual([]);
  });
});

describe('cancel of a tow whose invoice may exist', () => {
  const webhook: Tow = { ...started, invoiceWebhooks: [INVOICE_WEBHOOK] };
  const tried = (state: 'pending' | 'refused') => perhapsDone(report('invoice', state));
  const mayExist = [
    ['a sending invoice', started, [report('invoice', 'sending')]],
    ['an unknown invoice', started, [report('invoice', 'unknown')]],
    ['an accepted invoice', started, [report('invoice', 'accepted')]],
    ['an invoice that may have been made and will be asked for again', started, [tried('pending')]],
    ['an invoice that was refused after a try that may have made it', started, [tried('refused')]],
    ['an invoice that is being asked for again', started, [beingSent(report('invoice', 'pending'))]],
    ['an invoice webhook', webhook, []],
  ] as const;

  test.each(mayExist)(
    'a cancel with %s is refused to a dispatcher, with a reason or without',
    (_what, tow, reports) => {
      for (const command of [COMMANDS.canceled, withReason]) {
        expect(refusalOf(advance(tow, command, context({ reports })))).toMatchObject({
          kind: 'conflict',
          code: 'invoice_exists',
        });
      }
    },
  );

  test.each(mayExist)('a cancel with %s is refused to ops without a reason', (_what, tow, reports) => {
    const blank = { ...COMMANDS.canceled, reason: '  ' };
    for (const command of [COMMANDS.canceled, blank]) {
      expect(refusalOf(advance(tow, command, context({ reports, role: 'ops' }))).code).toBe('invoice_exists');
    }
  });

  test.each(mayExist)(
    'a cancel with %s is accepted from ops with a reason and withdraws nothing',
    (_what, tow, reports) => {
      const { tow: after, withdraw } = recorded(advance(tow, withReason, context({ reports, role: 'ops' })));

      expect(after.state).toBe('canceled');
      expect(withdraw).toEqual([]);
    },
  );

  test.each([
    ['was waived', report('invoice', 'waived')],
    ['was waived after a try that may have made it', perhapsDone(report('invoice', 'waived'))],
    ['was refused outright', report('invoice', 'refused')],
    ['was tried and surely not made', report('invoice', 'pending')],
  ])('a dispatcher may cancel a tow when its invoice %s', (_what, invoice) => {
    const decision = advance(started, COMMANDS.canceled, context({ reports: [invoice] }));

    expect(recorded(decision).tow.state).toBe('canceled');
  });

  test('a cancel that withdraws the invoice leaves no invoice to pay', () => {
    const reports = [report('invoice', 'pending')];
    const { tow, withdraw } = recorded(advance(started, COMMANDS.canceled, context({ reports })));
    const after = reports.map((entry) =>
      withdraw.includes(entry.id) ? { ...entry, state: 'waived' as const } : entry,
    );

    expect(refusalOf(advance(tow, COMMANDS.payment, context({ reports: after }))).code).toBe('invoice_required');
  });
});
