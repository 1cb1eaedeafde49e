import type { AuditEntry } from '../domain/audit';
import type { Notice, NoticeOutcome, NotificationState } from '../domain/notices';
import type { NoticeChannel, NotificationSettings } from '../domain/notification-settings';
import { unknown, type Decision } from '../domain/refusal';
import type { ActionResult } from './action-result';
import type { AuditedWrite } from './ports';

export const ALARM_NOT_FOUND = unknown(
  'alarm_not_found',
  'There is no announced alarm with this id. It may be over.',
).refusal;

export interface StoredNotifications {
  /** The settings of a person; null while those of the configuration count. */
  readonly settings: NotificationSettings | null;
  readonly state: NotificationState;
}

/** What is known of the channels. */
export interface ChannelState {
  readonly channels: NotificationState['channels'];
  /** The notices that are not delivered yet. */
  readonly notices: readonly Pick<Notice, 'channel' | 'createdAtMs'>[];
}

/** Settings and state are one record: a change that was decided on another version is decided again. */
export interface NotificationStore {
  read(): Promise<StoredNotifications>;
  readChannels(): Promise<ChannelState>;
  /**
   * Changes the state; `nowMs` is Redis time. Writes nothing if the decision returns the same state, except the audit
   * entry of a person whose act this is.
   */
  advance(
    decide: (stored: StoredNotifications, nowMs: number) => NotificationState,
    audit?: AuditEntry,
  ): Promise<NotificationState>;
  /** Decides on the settings; null takes those of the configuration again. */
  saveSettings(
    decide: (
      stored: StoredNotifications,
    ) => Decision<{ readonly settings: NotificationSettings | null; readonly audit: AuditEntry }>,
    idempotency: AuditedWrite['idempotency'],
  ): Promise<ActionResult>;
  /** Refuses if there is no announced alarm with this id. */
  acknowledge(id: string, by: string, write: AuditedWrite): Promise<ActionResult>;
}

/** One way to deliver notices. */
export interface NoticeSender {
  /** What the configuration lacks: names of variables. Empty if it can be used. */
  readonly missing: readonly string[];
  /** Makes one attempt, within a time limit. Never rejects. */
  send(notice: Notice, settings: NotificationSettings): Promise<NoticeOutcome>;
}

export type NoticeSenders = Readonly<Record<NoticeChannel, NoticeSender>>;
