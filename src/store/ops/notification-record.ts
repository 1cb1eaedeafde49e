import type { Redis } from 'ioredis';
import { storedChannelState, storedNotificationState } from '../../contracts/ops/notifications';
import { jsonText } from '../../domain/stored';
import { alarmChanges, NO_NOTIFICATIONS } from '../../domain/ops/notices';
import type { NotificationStore } from '../../workflow/ops/notifications';
import { KEYS } from '../keys';
import { recordsOf } from '../outbox/records';
import { wellFormedJson } from '../scripts';

/** Notifications of alarms: one hash with a version and the state. */

const storedState = jsonText(storedNotificationState);
const storedChannels = jsonText(storedChannelState);

export function createNotificationStore(redis: Redis): NotificationStore {
  const records = recordsOf(redis);
  const load = async () => {
    const [version, state] = await redis.hmget(KEYS.notifications, 'v', 'state');
    return { version: version ?? '', state: state ? storedState.parse(state) : NO_NOTIFICATIONS };
  };
  return {
    read: async () => (await load()).state,
    async readChannels() {
      const state = await redis.hget(KEYS.notifications, 'state');
      return state ? storedChannels.parse(state) : NO_NOTIFICATIONS;
    },
    advance: (decide, audit) =>
      records.transact(
        KEYS.notifications,
        async (transaction) => {
          const { version: expected, state: before } = await load();
          const state = decide(before, transaction.nowMs);
          if (state !== before) {
            transaction.change({ key: KEYS.notifications, expected, set: { state: wellFormedJson(state) } });
            alarmChanges(before, state).forEach((change) => transaction.addChange(change));
          }
          if (audit) transaction.audit(audit);
          return state;
        },
        // A full Redis is an alarm itself.
        { whenFull: true },
      ),
  };
}
