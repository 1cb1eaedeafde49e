import { DELIVERY, invoiceOf, known, requestOf, type Scenario } from './scenario';

/** Scenarios in which a worker runs for a webhook delivery. */
export const DELIVERY_SCENARIOS: readonly Scenario[] = [
  {
    name: 'a tow request',
    end: ['tow_request processed created'],
    wakeUp: 'delivery',
    repeats: 0,
    prepare: async (stage) => {
      await stage.lane.stores.accept('tow_request', requestOf(stage), DELIVERY);
    },
  },
  {
    name: 'a tow request for a known tow',
    end: ['tow_request processed already_known', 'tow_request processed created'],
    wakeUp: 'delivery',
    repeats: 0,
    prepare: async (stage) => {
      await known(stage);
      await stage.lane.stores.accept('tow_request', requestOf(stage), DELIVERY);
    },
  },
  {
    name: 'a tow request that contradicts the first',
    end: ['tow_request processed created', 'tow_request processed rival_kept', 'rival_request: resolve'],
    wakeUp: 'delivery',
    repeats: 0,
    prepare: async (stage) => {
      await known(stage);
      await stage.lane.stores.accept('tow_request', { ...requestOf(stage), metadata: { id: 'another' } }, DELIVERY);
    },
  },
  {
    name: 'an invoice for an unknown tow',
    end: ['tow_invoice parked null'],
    wakeUp: 'delivery',
    repeats: 0,
    prepare: async (stage) => {
      await stage.lane.stores.accept('tow_invoice', invoiceOf(stage), DELIVERY);
    },
  },
  {
    name: 'a tow request for which an invoice is parked',
    end: ['tow_invoice processed attached', 'tow_request processed created'],
    wakeUp: 'delivery',
    repeats: 0,
    prepare: async (stage) => {
      const { stores } = stage.lane;
      await stores.accept('tow_invoice', invoiceOf(stage), 'early');
      await stores.process('early');
      await stores.accept('tow_request', requestOf(stage), DELIVERY);
    },
  },
  {
    name: 'an invoice for a known tow',
    end: ['tow_invoice processed attached', 'tow_request processed created'],
    wakeUp: 'delivery',
    repeats: 0,
    prepare: async (stage) => {
      await known(stage);
      await stage.lane.stores.accept('tow_invoice', invoiceOf(stage), DELIVERY);
    },
  },
  {
    name: 'a delivery that is already processed',
    end: ['tow_request processed created'],
    wakeUp: 'delivery',
    repeats: 0,
    prepare: async (stage) => {
      await stage.lane.stores.accept('tow_request', requestOf(stage), DELIVERY);
      await stage.lane.stores.process(DELIVERY);
    },
  },
];
