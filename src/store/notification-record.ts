import type { Redis } from 'ioredis';
import { storedChannelState, storedNotificationSettings, storedNotificationState } from '../contracts/notifications';
import { jsonText } from '../contracts/stored';
import { acknowledge, NO_NOTIFICATIONS } from '../domain/notices';
import { done, refused, transactOnce, type ActionResult } from '../workflow/action-result';
import { ALARM_NOT_FOUND, type NotificationStore, type StoredNotifications } from '../workflow/notification-port';
import type { IdempotencyRecord } from '../workflow/transaction-port';
import { KEYS } from './keys';
import { recordsOf } from './records';
import { wellFormedJson } from './scripts';
import type { RecordTransaction } from './transaction';

/** Notifications of alarms: one hash with a version, the settings of a person, and the state. */

const storedSettings = jsonText(storedNotificationSettings);
const storedState = jsonText(storedNotificationState);
const storedChannels = jsonText(storedChannelState);

interface LoadedNotifications extends StoredNotifications {
  readonly version: string;
}

export function createNotificationStore(redis: Redis): NotificationStore {
  const records = recordsOf(redis);
  const load = async (): Promise<LoadedNotifications> => {
    const [version, settings, state] = await redis.hmget(KEYS.notifications, 'v', 'settings', 'state');
    return {
      version: version ?? '',
      settings: settings ? storedSettings.parse(settings) : null,
      state: state ? storedState.parse(state) : NO_NOTIFICATIONS,
    };
  };
  const write = (
    transaction: RecordTransaction,
    { version }: LoadedNotifications,
    change: { readonly set?: Readonly<Record<string, string>>; readonly remove?: readonly string[] },
  ) => transaction.change({ key: KEYS.notifications, expected: version, ...change });
  /** A change of a person, at most once per Idempotency-Key. */
  const save = (
    idempotency: IdempotencyRecord | undefined,
    decide: (transaction: RecordTransaction, loaded: LoadedNotifications) => ActionResult,
  ): Promise<ActionResult> =>
    transactOnce(records, { orderKey: KEYS.notifications, idempotency }, async (transaction) =>
      decide(transaction, await load()),
    );
  return {
    read: load,
    async readChannels() {
      const state = await redis.hget(KEYS.notifications, 'state');
      return state ? storedChannels.parse(state) : NO_NOTIFICATIONS;
    },
    advance: (decide, audit) =>
      records.transact(
        KEYS.notifications,
        async (transaction) => {
          const loaded = await load();
          const state = decide(loaded, transaction.nowMs);
          if (state !== loaded.state) write(transaction, loaded, { set: { state: wellFormedJson(state) } });
          if (audit) transaction.audit(audit);
          return state;
        },
        // A full Redis is an alarm itself.
        { whenFull: true },
      ),
    saveSettings: (decide, idempotency) =>
      save(idempotency, (transaction, loaded) => {
        const decision = decide(loaded);
        if (!decision.ok) return refused(decision.refusal);
        const { settings, audit } = decision;
        const isReset = settings === null;
        write(
          transaction,
          loaded,
          isReset ? { remove: ['settings'] } : { set: { settings: wellFormedJson(settings) } },
        );
        transaction.audit(audit);
        return done(null);
      }),
    acknowledge: (id, by, { audit, idempotency }) =>
      save(idempotency, (transaction, loaded) => {
        const state = acknowledge(loaded.state, id, { by, atMs: transaction.nowMs });
        if (state === null) return refused(ALARM_NOT_FOUND);
        if (state === loaded.state) return done(null);
        write(transaction, loaded, { set: { state: wellFormedJson(state) } });
        transaction.audit(audit);
        return done(null);
      }),
  };
}
