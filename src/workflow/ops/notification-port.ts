import type { AuditEntry } from '../../domain/ops/audit';
import type { Notice, NoticeOutcome, NotificationState } from '../../domain/ops/notices';
import type { NoticeChannel, NotificationSettings } from '../../domain/ops/notification-settings';

/** What is known of the channels. */
export interface ChannelState {
  readonly channels: NotificationState['channels'];
  /** The notices that are not delivered yet. */
  readonly notices: readonly Pick<Notice, 'channel' | 'createdAtMs'>[];
}

/** One record: a change that was decided on another version is decided again. */
export interface NotificationStore {
  read(): Promise<NotificationState>;
  readChannels(): Promise<ChannelState>;
  /**
   * Changes the state; `nowMs` is Redis time. Writes nothing if the decision returns the same state, except the audit
   * entry of a person whose act this is.
   */
  advance(
    decide: (state: NotificationState, nowMs: number) => NotificationState,
    audit?: AuditEntry,
  ): Promise<NotificationState>;
}

/** One way to deliver notices. */
export interface NoticeSender {
  /** What the configuration lacks: names of variables. Empty if it can be used. */
  readonly missing: readonly string[];
  /** Makes one attempt, within a time limit. Never rejects. */
  send(notice: Notice, settings: NotificationSettings): Promise<NoticeOutcome>;
}

export type NoticeSenders = Readonly<Record<NoticeChannel, NoticeSender>>;
