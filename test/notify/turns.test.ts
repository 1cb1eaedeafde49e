import type { Notice } from '../../src/domain/ops/notices';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createNotificationStore } from '../../src/store/ops/notification-record';
import type { NoticeSender, NoticeSenders } from '../../src/workflow/ops/notifications';
import { runWatch, watchAlarms } from '../../src/workflow/ops/watch-alarms';
import { eventually } from '../support/eventually';
import { NO_RECEIVER } from '../support/notifications';
import { useStores } from '../support/stores';

const stores = useStores();

const notice = (id: string, channel: Notice['channel']): Notice => ({
  id,
  type: 'alarm.started',
  channel,
  alarm: null,
  createdAtMs: Date.now(),
  attempts: 0,
  nextAtMs: 0,
});

const hanging: NoticeSender = { missing: [], send: () => new Promise(() => {}) };
const HANGING: NoticeSenders = { webhook: hanging, mail: hanging };

const toolsWith = (senders: NoticeSenders) => ({
  store: createNotificationStore(stores.redis),
  senders,
  settings: { ...NO_RECEIVER, webhookUrl: 'http://receiver.example', mailTo: ['one@towing.example'] },
  observe: () => Promise.resolve([]),
  clock: systemClock,
  log: silentLog,
  metrics: { noticeAttempted: () => undefined },
});

test('many due notices of a channel that fails do not delay those of the other', async () => {
  const { store } = toolsWith(HANGING);
  const mails = Array.from({ length: 50 }, (_, at) => notice(`mail-${at}`, 'mail'));
  await store.advance((state) => ({ ...state, notices: [...mails, notice('call', 'webhook')] }));
  const delivered: string[] = [];
  const webhook: NoticeSender = {
    missing: [],
    send({ id }) {
      delivered.push(id);
      return Promise.resolve({ kind: 'delivered', problem: null });
    },
  };
  const mail: NoticeSender = { missing: [], send: () => Promise.resolve({ kind: 'failed', problem: 'timeout' }) };

  await runWatch(toolsWith({ webhook, mail }));

  expect(delivered).toEqual(['call']);
  expect((await store.read()).notices).toHaveLength(mails.length);
});

test('a stop does not wait for an attempt that hangs', async () => {
  let isUnderWay = false;
  const webhook: NoticeSender = {
    missing: [],
    send(...sent) {
      isUnderWay = true;
      return hanging.send(...sent);
    },
  };
  const tools = toolsWith({ ...HANGING, webhook });
  await tools.store.advance((state) => ({ ...state, notices: [notice('call', 'webhook')] }));
  const release = jest.fn(() => Promise.resolve());
  const owned = { epoch: 1, renew: () => Promise.resolve(true), isSurelyOwned: () => true, release };
  const lock = { acquire: () => Promise.resolve(owned) };
  const watch = watchAlarms({ ...tools, lock });
  await eventually(() => expect(isUnderWay).toBe(true));

  await watch.stop();

  expect(release).toHaveBeenCalledTimes(1);
});
