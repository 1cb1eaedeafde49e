import { backoffMs } from '../outbox/backoff';
import {
  NOTICE_CHANNELS,
  type AlarmKind,
  type AlarmSeverity,
  type NoticeChannel,
  type NotificationSettings,
} from './notification-settings';
import { general, type NewChange } from './changes';
import { HOUR_MS, MINUTE_MS } from '../timestamp';
import type { OrUnknown } from '../vocabulary';

/**
 * Which notices the alarms of an installation need: one at the start of an alarm, one again and again while it lasts, and
 * one at its end. A notice is stored before it is sent and removed after it was sent, so that each is sent at least once.
 * Its id never changes, so that a receiver can drop repetitions.
 */

/** An alarm that holds now. `key` names the same alarm at a later time, for instance without its counts. */
export interface ObservedAlarm {
  readonly key: string;
  readonly kind: AlarmKind;
  readonly severity: AlarmSeverity;
  /** What it means and what to do, in the language of the settings; '' while no channel is used. Without personal data. */
  readonly title: string;
  readonly todo: string;
  /** The channel whose failure this is. Its notices go to the other channel only. */
  readonly failingChannel: NoticeChannel | null;
}

/** An alarm from its first sight to its end. Times are ms since the epoch. */
export interface Incident extends Omit<ObservedAlarm, 'kind'> {
  readonly kind: OrUnknown<AlarmKind>;
  readonly id: string;
  readonly seenAtMs: number;
  /** Since when it was not seen; null while it holds. */
  readonly missingSinceMs: number | null;
  /** When its start was due; null before. */
  readonly startedAtMs: number | null;
  /** When it was last due: its start, or the last reminder. */
  readonly remindedAtMs: number | null;
}

export const NOTICE_TYPES = ['alarm.started', 'alarm.reminded', 'alarm.ended', 'test'] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

export type NoticeAlarm = Pick<Incident, 'id' | 'kind' | 'severity' | 'title' | 'todo' | 'seenAtMs'>;

/** A message that is owed to one channel. It goes to the receivers that are configured when it is sent. */
export interface Notice {
  /** The same for each attempt and each channel. */
  readonly id: string;
  readonly type: NoticeType;
  readonly channel: NoticeChannel;
  /** Null in a test. */
  readonly alarm: NoticeAlarm | null;
  readonly createdAtMs: number;
  readonly attempts: number;
  readonly nextAtMs: number;
}

/** The page of the console where a person acts on a notice; null while the address of the console is not known. */
export function pageOfNotice({ type }: Pick<Notice, 'type'>, consoleUrl: string | null): string | null {
  if (consoleUrl === null) return null;
  return `${consoleUrl}${type === 'test' ? '/ops/notifications' : '/ops'}`;
}

/** How the last attempts of a channel ended. */
export interface ChannelHealth {
  readonly deliveredAtMs: number | null;
  /** Null after a success. */
  readonly failingSinceMs: number | null;
  readonly problem: string | null;
}

export interface NotificationState {
  readonly incidents: readonly Incident[];
  readonly notices: readonly Notice[];
  readonly channels: Readonly<Record<NoticeChannel, ChannelHealth | null>>;
}

export const NO_NOTIFICATIONS: NotificationState = {
  incidents: [],
  notices: [],
  channels: { webhook: null, mail: null },
};

/** An alarm that ends earlier is not announced. */
export const START_HOLD_MS = 30_000;
/** An alarm that returns earlier is the same one, and gets no further notice. */
export const END_HOLD_MS = 60_000;
/**
 * A worker that stalls ends within seconds, and its next process stalls about a minute later. It is announced at once, and
 * all of its stalls are one alarm.
 */
export const STALL_END_HOLD_MS = 5 * MINUTE_MS;
function holdsOf(kind: Incident['kind']) {
  return kind === 'workerStalled'
    ? { startMs: 0, endMs: STALL_END_HOLD_MS }
    : { startMs: START_HOLD_MS, endMs: END_HOLD_MS };
}
/** A notice that was not delivered within this time is dropped. */
export const GIVE_UP_MS = 24 * HOUR_MS;
/** A channel that fails for this long is an alarm. A shorter fault needs no person: notices are repeated. */
export const CHANNEL_FAILS_AFTER_MS = 2 * MINUTE_MS;
/** Failing channels must not fill Redis. The oldest notices are dropped first. */
export const NOTICES_MAX = 500;
const RETRY = { retryBaseMs: 5000, retryCapMs: 5 * MINUTE_MS };

export interface AlarmEvaluation {
  readonly observed: readonly ObservedAlarm[];
  readonly settings: Pick<NotificationSettings, 'severities' | 'mutedAlarms' | 'remindMs'>;
  /** The channels in use. */
  readonly channels: readonly NoticeChannel[];
  readonly nowMs: number;
  readonly newId: () => string;
}

/** The state after an evaluation of the alarms. Returns the same object if nothing changed. */
export function evaluateAlarms(state: NotificationState, view: AlarmEvaluation): NotificationState {
  const { settings, channels } = view;
  const isMuted = ({ kind }: Pick<Incident, 'kind'>) => settings.mutedAlarms.some((muted) => muted === kind);
  const chosen = view.observed.filter((alarm) => settings.severities.includes(alarm.severity) && !isMuted(alarm));
  const observed = new Map(chosen.map((alarm) => [alarm.key, alarm]));
  const known = state.incidents.filter((incident) => !isMuted(incident));
  const appeared = [...observed.values()].filter(({ key }) => !known.some((incident) => incident.key === key));
  const changes = [...known, ...appeared.map((alarm) => incidentOf(alarm, view))].map((incident) =>
    evaluateIncident(incident, observed.get(incident.key) ?? null, view),
  );
  const notices = changes.flatMap((change) => change.notices);
  const incidents = changes.flatMap(({ incident }) => incident ?? []);
  const kept = state.notices.filter(({ channel }) => channels.includes(channel));
  const health = healthOf(state.channels, channels);
  const isSame =
    health === state.channels &&
    notices.length === 0 &&
    incidents.length === state.incidents.length &&
    incidents.every((incident, at) => incident === state.incidents[at]) &&
    kept.length === state.notices.length;
  return isSame ? state : { channels: health, incidents, notices: [...kept, ...notices].slice(-NOTICES_MAX) };
}

/** A channel that is no longer used has no health: nothing would show its recovery. */
function healthOf(channels: NotificationState['channels'], used: readonly NoticeChannel[]) {
  const isForgotten = (channel: NoticeChannel) => channels[channel] !== null && !used.includes(channel);
  const kept = (channel: NoticeChannel) => (isForgotten(channel) ? null : channels[channel]);
  return NOTICE_CHANNELS.some(isForgotten) ? { webhook: kept('webhook'), mail: kept('mail') } : channels;
}

interface IncidentChange {
  /** Null once it is over. */
  readonly incident: Incident | null;
  readonly notices: readonly Notice[];
}

function incidentOf(alarm: ObservedAlarm, { nowMs, newId }: AlarmEvaluation): Incident {
  return { ...alarm, id: newId(), seenAtMs: nowMs, missingSinceMs: null, startedAtMs: null, remindedAtMs: null };
}

function evaluateIncident(incident: Incident, alarm: ObservedAlarm | null, view: AlarmEvaluation): IncidentChange {
  const { settings, nowMs } = view;
  const hold = holdsOf(incident.kind);
  if (alarm === null) {
    const missingSinceMs = incident.missingSinceMs ?? nowMs;
    if (nowMs - missingSinceMs < hold.endMs) {
      return { incident: incident.missingSinceMs === null ? { ...incident, missingSinceMs } : incident, notices: [] };
    }
    const isAnnounced = incident.startedAtMs !== null;
    return { incident: null, notices: isAnnounced ? owed('alarm.ended', incident, view) : [] };
  }
  const named = incident.title === '' && alarm.title !== '' ? withTextOf(incident, alarm) : incident;
  const seen = named.missingSinceMs === null ? named : { ...named, missingSinceMs: null };
  const { startedAtMs, remindedAtMs } = seen;
  const isStart = startedAtMs === null;
  const isDue = isStart
    ? nowMs - seen.seenAtMs >= hold.startMs
    : settings.remindMs > 0 && nowMs - (remindedAtMs ?? startedAtMs) >= settings.remindMs;
  if (!isDue) return { incident: seen, notices: [] };
  // As it is now: counts have grown since, and its severity may have changed.
  const { severity, title, todo } = alarm;
  const current = { ...seen, severity, title, todo, startedAtMs: startedAtMs ?? nowMs, remindedAtMs: nowMs };
  return { incident: current, notices: owed(isStart ? 'alarm.started' : 'alarm.reminded', current, view) };
}

/** An alarm that came while no channel was used gets its text with the first one. */
function withTextOf(incident: Incident, { title, todo }: ObservedAlarm): Incident {
  return { ...incident, title, todo };
}

/** The alarms that are announced and over in the second state, and were not in the first. */
export function alarmChanges(before: NotificationState, after: NotificationState): NewChange[] {
  const announced = ({ incidents }: NotificationState) => incidents.filter(({ startedAtMs }) => startedAtMs !== null);
  const missing = (one: NotificationState, other: NotificationState) =>
    announced(one).filter(({ id }) => !announced(other).some((incident) => incident.id === id));
  const changeOf = (type: 'alarm.started' | 'alarm.ended') => (incident: Incident) =>
    general(type, { alarm: incident.kind.toString(), alarm_id: incident.id });
  return [
    ...missing(after, before).map(changeOf('alarm.started')),
    ...missing(before, after).map(changeOf('alarm.ended')),
  ];
}

/** The notice, once per channel; not to the channel that the alarm is about. */
function owed(type: NoticeType, incident: Incident, { channels, nowMs }: AlarmEvaluation): readonly Notice[] {
  const { id, kind, severity, title, todo, seenAtMs, failingChannel } = incident;
  const name = type.replace('alarm.', '');
  return channels
    .filter((channel) => channel !== failingChannel)
    .map((channel) => ({
      id: type === 'alarm.reminded' ? `${id}.${name}.${nowMs}` : `${id}.${name}`,
      type,
      channel,
      alarm: { id, kind, severity, title, todo, seenAtMs },
      createdAtMs: nowMs,
      attempts: 0,
      nextAtMs: nowMs,
    }));
}

/** The notices to send now. One waits until what came before about its alarm was delivered to the same channel. */
export function dueNotices({ notices }: NotificationState, nowMs: number): readonly Notice[] {
  const waits = ({ channel, alarm }: Notice, at: number) =>
    alarm !== null &&
    notices.slice(0, at).some((earlier) => earlier.channel === channel && earlier.alarm?.id === alarm.id);
  return notices.filter((notice, at) => notice.nextAtMs <= nowMs && !waits(notice, at));
}

/** How an attempt ended. A problem is a short code without addresses or secrets, such as `http_500`. */
export type NoticeOutcome =
  | { readonly kind: 'delivered'; readonly problem: string | null }
  | { readonly kind: 'failed'; readonly problem: string };

/** The state after an attempt: a delivered notice is removed, a failed one waits. @param jitter 0 to 1. */
export function afterAttempt(
  state: NotificationState,
  { id, channel }: Pick<Notice, 'id' | 'channel'>,
  { outcome, nowMs, jitter }: { readonly outcome: NoticeOutcome; readonly nowMs: number; readonly jitter: number },
): NotificationState {
  const health = state.channels[channel];
  const isDelivered = outcome.kind === 'delivered';
  const channels = {
    ...state.channels,
    [channel]: {
      deliveredAtMs: isDelivered ? nowMs : (health?.deliveredAtMs ?? null),
      failingSinceMs: isDelivered ? null : (health?.failingSinceMs ?? nowMs),
      problem: outcome.problem,
    },
  };
  const notices = state.notices.flatMap((notice) => {
    if (notice.id !== id || notice.channel !== channel) return [notice];
    if (isDelivered || nowMs - notice.createdAtMs >= GIVE_UP_MS) return [];
    const delayMs = backoffMs({ failures: notice.attempts, notBeforeMs: null, nowMs, jitter }, RETRY);
    return [{ ...notice, attempts: notice.attempts + 1, nextAtMs: nowMs + delayMs }];
  });
  return { ...state, channels, notices };
}

/** A channel in use whose attempts fail. */
export interface FailingChannel {
  readonly channel: NoticeChannel;
  readonly sinceMs: number;
  readonly problem: string;
}

/** The channels whose attempts have all failed for so long that a person should know. */
export function failingChannels(channels: NotificationState['channels'], nowMs: number): readonly FailingChannel[] {
  return NOTICE_CHANNELS.flatMap((channel) => {
    const { failingSinceMs: sinceMs = null, problem = null } = channels[channel] ?? {};
    if (sinceMs === null || nowMs - sinceMs < CHANNEL_FAILS_AFTER_MS) return [];
    return [{ channel, sinceMs, problem: problem ?? 'not_sent' }];
  });
}
