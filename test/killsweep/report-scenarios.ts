import type { FactCommand } from '../../src/domain/tow/fact-command';
import { INVOICE, START } from '../support/stores';
import { invoiceOf, known, workOff, type Scenario, type Stage } from './scenario';

const DETAIN = { event: 'detained' } as const;
const RELEASE = { event: 'released' } as const;
const PAYMENT = { event: 'payment', paymentStatus: 'PAID' } as const;
const CANCEL = { event: 'canceled', cancellationReason: 'Gone on arrival' } as const;
/** The invoice webhook arrives after 20 ms, on a busy machine after seconds; it must arrive within this grace. */
const PROOF_GRACE_MS = 8000;

/** Reports all facts but the last to the service, then enters the last. */
function reported(...facts: FactCommand[]): Scenario['prepare'] {
  return async (stage: Stage) => {
    await known(stage, ...facts.slice(0, -1));
    await workOff(stage);
    for (const fact of facts.slice(-1)) await stage.testBed.stores.say(stage.ref, fact);
  };
}

/** Scenarios in which a worker runs for a tow with unsent reports. */
export const REPORT_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a started report',
    end: ['started accepted', 'tow_request processed created'],
    repeats: 1,
    prepare: reported(START),
  },
  {
    name: 'a detained report',
    end: ['started accepted', 'detained accepted', 'tow_request processed created'],
    repeats: 1,
    prepare: reported(START, DETAIN),
  },
  {
    name: 'a canceled report',
    end: ['canceled accepted', 'tow_request processed created'],
    repeats: 1,
    prepare: reported(CANCEL),
  },
  {
    name: 'a released report',
    end: ['started accepted', 'released accepted', 'tow_request processed created'],
    repeats: 1,
    prepare: reported(START, RELEASE),
  },
  {
    name: 'an invoice whose webhook arrives in time',
    end: ['started accepted', 'invoice accepted', 'tow_invoice processed attached', 'tow_request processed created'],
    settings: { graceMs: PROOF_GRACE_MS },
    repeats: 0,
    createsMax: 1,
    prepare: reported(START, INVOICE),
  },
  {
    name: 'an invoice whose webhook never arrives',
    end: ['started accepted', 'invoice accepted', 'tow_request processed created'],
    faults: [{ operation: 'tow_invoice', fault: 'drop' }],
    repeats: 1,
    createsMax: 2,
    prepare: reported(START, INVOICE),
  },
  {
    name: 'a payment report',
    end: [
      'started accepted',
      'invoice accepted',
      'payment accepted',
      'tow_invoice processed attached',
      'tow_request processed created',
    ],
    settings: { graceMs: PROOF_GRACE_MS },
    repeats: 1,
    prepare: reported(START, INVOICE, PAYMENT),
  },
  {
    name: 'a tow whose facts are all entered at once',
    end: [
      'started accepted',
      'detained accepted',
      'invoice accepted',
      'payment accepted',
      'released accepted',
      'tow_invoice processed attached',
      'tow_request processed created',
    ],
    settings: { graceMs: PROOF_GRACE_MS },
    repeats: 1,
    createsMax: 1,
    prepare: (stage) => known(stage, START, DETAIN, INVOICE, PAYMENT, RELEASE),
  },
  {
    name: 'a report that is refused',
    end: ['started refused', 'tow_request processed created', 'report_refused: correct, retry, waive, accept'],
    faults: [{ operation: 'started', fault: '400' }],
    repeats: 1,
    prepare: reported(START),
  },
  {
    name: 'a report answered 500 once',
    end: ['started accepted', 'tow_request processed created'],
    faults: [{ operation: 'started', fault: '500', times: 1 }],
    repeats: 1,
    prepare: reported(START),
  },
  {
    name: 'a report throttled once',
    end: ['started accepted', 'tow_request processed created'],
    faults: [{ operation: 'started', fault: '429', times: 1 }],
    repeats: 1,
    prepare: reported(START),
  },
  {
    name: 'a report sent with an expired token',
    end: ['started accepted', 'tow_request processed created'],
    faults: [{ operation: 'started', fault: 'expired_token', times: 1 }],
    repeats: 1,
    prepare: reported(START),
  },
  {
    name: 'a report whose answer is lost once',
    end: ['started accepted', 'tow_request processed created'],
    faults: [{ operation: 'started', fault: 'lost_answer', times: 1 }],
    repeats: 1,
    prepare: reported(START),
  },
  {
    name: 'an invoice whose answer is lost',
    end: ['started accepted', 'invoice accepted', 'tow_invoice processed attached', 'tow_request processed created'],
    settings: { graceMs: PROOF_GRACE_MS },
    faults: [{ operation: 'invoice', fault: 'lost_answer', times: 1 }],
    repeats: 0,
    createsMax: 1,
    prepare: reported(START, INVOICE),
  },
  {
    name: 'an invoice answered 500 once',
    end: ['started accepted', 'invoice accepted', 'tow_request processed created'],
    faults: [
      { operation: 'invoice', fault: '500', times: 1 },
      { operation: 'tow_invoice', fault: 'drop' },
    ],
    repeats: 1,
    mayNeedPerson: 'always',
    // A create answered 500 does not count as unanswered.
    createsMax: 3,
    prepare: reported(START, INVOICE),
  },
  {
    name: 'an invoice throttled once',
    end: ['started accepted', 'invoice accepted', 'tow_invoice processed attached', 'tow_request processed created'],
    settings: { graceMs: PROOF_GRACE_MS },
    faults: [{ operation: 'invoice', fault: '429', times: 1 }],
    repeats: 1,
    createsMax: 2,
    prepare: reported(START, INVOICE),
  },
  {
    name: 'an invoice that never gets an answer',
    end: [
      'started accepted',
      'invoice unknown',
      'tow_request processed created',
      'report_unknown: accept, retry, waive',
    ],
    faults: [{ operation: 'invoice', fault: 'drop' }],
    repeats: 0,
    createsMax: 2,
    prepare: reported(START, INVOICE),
  },
  {
    name: 'an invoice that differs from an earlier webhook',
    end: [
      'started accepted',
      'invoice accepted',
      'tow_invoice processed attached',
      'tow_request processed created',
      'invoice_mismatch: resolve',
    ],
    faults: [{ operation: 'tow_invoice', fault: 'drop' }],
    repeats: 1,
    createsMax: 2,
    prepare: async (stage) => {
      await known(stage, START);
      const { stores } = stage.testBed;
      await stores.accept('tow_invoice', { ...invoiceOf(stage), towing_invoice: { total_amount: 1 } }, 'other');
      await stores.process('other');
      await workOff(stage);
      await stores.say(stage.ref, INVOICE);
    },
  },
  {
    name: 'a report that is given up',
    end: ['started pending', 'tow_request processed created', 'report_given_up: correct, retry, waive, accept'],
    settings: { giveUpAfterMs: 100, retryBaseMs: 300 },
    faults: [{ operation: 'started', fault: '500' }],
    repeats: 1,
    prepare: reported(START),
  },
  {
    name: 'reports that take permits',
    end: ['started accepted', 'detained accepted', 'tow_request processed created'],
    settings: { callsPerMinute: 30 },
    repeats: 1,
    prepare: (stage) => known(stage, START, DETAIN),
  },
  {
    name: 'a report that waits for a permit',
    end: ['started accepted', 'detained accepted', 'tow_request processed created'],
    settings: { callsPerMinute: 1 },
    repeats: 1,
    prepare: (stage) => known(stage, START, DETAIN),
  },
  {
    name: 'a report that finds the connection broken once',
    end: ['started accepted', 'tow_request processed created'],
    faults: [{ operation: 'started', fault: 'html_404', times: 1 }],
    repeats: 1,
    prepare: reported(START),
  },
];
