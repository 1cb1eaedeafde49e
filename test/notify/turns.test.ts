import type { Notice } from '../../src/domain/notices';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createNotificationStore } from '../../src/store/notification-record';
import type { NoticeSender } from '../../src/workflow/notification-port';
import { runWatch } from '../../src/workflow/watch-alarms';
import { NO_RECEIVER } from '../support/notifications';
import { useStores, type Stores } from '../support/stores';

let stores: Stores;
useStores((opened) => {
  stores = opened;
});

const notice = (id: string, channel: Notice['channel']): Notice => ({
  id,
  type: 'alarm.started',
  channel,
  to: channel === 'mail' ? ['one@towing.example'] : [],
  alarms: [],
  createdAtMs: Date.now(),
  attempts: 0,
  nextAtMs: 0,
});

test('many due notices of a channel that fails do not delay those of the other', async () => {
  const store = createNotificationStore(stores.redis, systemClock);
  const mails = Array.from({ length: 50 }, (_, at) => notice(`mail-${at}`, 'mail'));
  await store.advance(({ state }) => ({ ...state, notices: [...mails, notice('call', 'webhook')] }));
  const delivered: string[] = [];
  const webhook: NoticeSender = {
    missing: [],
    send({ id }) {
      delivered.push(id);
      return Promise.resolve({ kind: 'delivered', problem: null });
    },
  };
  const mail: NoticeSender = { missing: [], send: () => Promise.resolve({ kind: 'failed', problem: 'timeout' }) };

  await runWatch({
    store,
    senders: { webhook, mail },
    defaults: { ...NO_RECEIVER, webhook_url: 'http://receiver.example', mail_to: ['one@towing.example'] },
    observe: () => Promise.resolve([]),
    clock: systemClock,
    log: silentLog,
    metrics: { noticeAttempted: () => undefined },
  });

  expect(delivered).toEqual(['call']);
  expect((await store.read()).state.notices).toHaveLength(mails.length);
});
