import { KEYS } from '../../src/store/keys';
import { invoiceOf, known, requestOf, type Scenario } from './scenario';

/** Four deliveries each: twenty, as many as a job carries. */
const BATCH = [1, 2, 3, 4, 5];

/** Scenarios in which a worker runs for webhook deliveries. */
export const DELIVERY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a tow request',
    end: ['tow_request processed created'],
    repeats: 0,
    prepare: async (stage) => {
      await stage.testBed.stores.accept('tow_request', requestOf(stage), 'the delivery');
    },
  },
  {
    name: 'a tow request for a known tow',
    end: ['tow_request processed already_known', 'tow_request processed created'],
    repeats: 0,
    prepare: async (stage) => {
      await known(stage);
      await stage.testBed.stores.accept('tow_request', requestOf(stage), 'the delivery');
    },
  },
  {
    name: 'a tow request that contradicts the first',
    end: ['tow_request processed created', 'tow_request processed rival_kept', 'rival_request: resolve'],
    repeats: 0,
    prepare: async (stage) => {
      await known(stage);
      await stage.testBed.stores.accept(
        'tow_request',
        { ...requestOf(stage), metadata: { id: 'another' } },
        'the delivery',
      );
    },
  },
  {
    name: 'an invoice for an unknown tow',
    end: ['tow_invoice parked null'],
    repeats: 0,
    prepare: async (stage) => {
      await stage.testBed.stores.accept('tow_invoice', invoiceOf(stage), 'the delivery');
    },
  },
  {
    name: 'a tow request for which an invoice is parked',
    end: ['tow_invoice processed attached', 'tow_request processed created'],
    repeats: 0,
    prepare: async (stage) => {
      const { stores } = stage.testBed;
      await stores.accept('tow_invoice', invoiceOf(stage), 'early');
      await stores.process('early');
      await stores.accept('tow_request', requestOf(stage), 'the delivery');
    },
  },
  {
    name: 'an invoice for a known tow',
    end: ['tow_invoice processed attached', 'tow_request processed created'],
    repeats: 0,
    prepare: async (stage) => {
      await known(stage);
      await stage.testBed.stores.accept('tow_invoice', invoiceOf(stage), 'the delivery');
    },
  },
  {
    name: 'a delivery that is already processed',
    end: ['tow_request processed created'],
    repeats: 0,
    prepare: async (stage) => {
      const { stores } = stage.testBed;
      await stores.accept('tow_request', requestOf(stage), 'the delivery');
      await stores.process('the delivery');
      await stores.redis.zadd(KEYS.dueDeliveries, 1, 'the delivery');
    },
  },
  {
    name: 'a batch of twenty deliveries',
    end: [
      ...BATCH.flatMap(() => ['tow_invoice processed attached', 'tow_request processed created']),
      ...BATCH.map(() => 'tow_request processed already_known'),
      ...BATCH.map(() => 'tow_invoice parked null'),
    ],
    repeats: 0,
    prepare: async (stage) => {
      const { stores } = stage.testBed;
      for (const number of BATCH) {
        const tow = { ref: `TW-${number}`, violation: `V-${number}` };
        const unknown = { ref: `TW-unknown-${number}`, violation: 'V' };
        await stores.accept('tow_request', requestOf(tow), `request-${number}`);
        await stores.accept('tow_invoice', invoiceOf(tow), `invoice-${number}`);
        await stores.accept('tow_request', requestOf(tow), `again-${number}`);
        await stores.accept('tow_invoice', invoiceOf(unknown), `unknown-${number}`);
      }
    },
  },
];
