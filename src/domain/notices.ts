import { backoffMs } from './backoff';
import {
  ALARM_SEVERITIES,
  isAlarmKind,
  isQuiet,
  NOTICE_CHANNELS,
  type AlarmKind,
  type AlarmSeverity,
  type NoticeChannel,
  type NotificationSettings,
} from './notification-settings';
import { HOUR_MS, MINUTE_MS } from './timestamp';
import type { OrUnknown } from './vocabulary';

/**
 * Which notices the alarms of an installation need: one at the start of an alarm, one at its end, and one more when it
 * is not acknowledged in time. A notice is stored before it is sent and removed after it was sent, so that each is sent
 * at least once. Its id never changes, so that a receiver can drop repetitions.
 */

/** An alarm that holds now. `key` names the same alarm at a later time, for instance without its counts. */
export interface ObservedAlarm {
  readonly key: string;
  readonly kind: AlarmKind;
  readonly severity: AlarmSeverity;
  /** What it means and what to do, in the language of the settings. Without personal data. */
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
  /** When its start was due, the last time; null before. The time to its escalation counts from here. */
  readonly startedAtMs: number | null;
  /** Whether that start had a receiver. */
  readonly isAnnounced: boolean;
  /** Since when it is seen as `bad` although its start had the severity `wait`. */
  readonly worseSinceMs: number | null;
  /** Quiet hours hold its start back. */
  readonly isHeldBack: boolean;
  /** When it was last escalated to a receiver. */
  readonly escalatedAtMs: number | null;
  readonly acknowledged: { readonly by: string; readonly atMs: number } | null;
}

export const NOTICE_TYPES = ['alarm.started', 'alarm.ended', 'alarm.escalated', 'alarm.summary', 'test'] as const;
export type NoticeType = (typeof NOTICE_TYPES)[number];

export type NoticeAlarm = Pick<Incident, 'id' | 'kind' | 'severity' | 'title' | 'todo' | 'seenAtMs'>;

/** The lists of mail addresses in the settings. */
export const ADDRESS_LISTS = ['mail_to', 'escalate_to'] as const satisfies readonly (keyof NotificationSettings)[];
export type AddressList = (typeof ADDRESS_LISTS)[number];

/** A message that is owed to one channel. */
export interface Notice {
  /** The same for each attempt and each channel. */
  readonly id: string;
  readonly type: NoticeType;
  readonly channel: NoticeChannel;
  /** Who gets the mail: `addressesOf` reads the lists when it is sent, so that a corrected address counts. */
  readonly lists: readonly AddressList[];
  /** The addresses of these lists when the notice was made. An earlier version knows no lists. */
  readonly to: readonly string[];
  readonly alarms: readonly NoticeAlarm[];
  readonly createdAtMs: number;
  readonly attempts: number;
  readonly nextAtMs: number;
}

/** The mail addresses of a notice with these settings; none for a webhook. */
export function addressesOf({ lists, to }: Pick<Notice, 'lists' | 'to'>, settings: NotificationSettings): string[] {
  return lists.length === 0 ? [...to] : addressesIn(lists, settings);
}

export function addressesIn(lists: readonly AddressList[], settings: NotificationSettings): string[] {
  return [...new Set(lists.flatMap((list) => settings[list]))];
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
/**
 * A version that does not know the kind of an alarm cannot see whether it holds. It keeps the alarm for this long, without
 * a notice, for a watch of the version that began it.
 */
export const UNKNOWN_END_HOLD_MS = 24 * HOUR_MS;
function holdsOf(kind: Incident['kind']) {
  if (!isAlarmKind(kind)) return { startMs: START_HOLD_MS, endMs: UNKNOWN_END_HOLD_MS };
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
  readonly settings: NotificationSettings;
  /** The channels in use. */
  readonly channels: readonly NoticeChannel[];
  readonly nowMs: number;
  readonly newId: () => string;
}

/** The state after an evaluation of the alarms. Returns the same object if nothing changed. */
export function evaluateAlarms(state: NotificationState, view: AlarmEvaluation): NotificationState {
  const { settings, channels } = view;
  const isChosen = ({ kind }: Pick<Incident, 'kind'>) => !settings.muted_alarms.includes(kind);
  const observed = new Map(view.observed.filter(isChosen).map((alarm) => [alarm.key, alarm]));
  const known = state.incidents.filter(isChosen);
  const continued = known.map((incident) => evaluateIncident(incident, observed.get(incident.key) ?? null, view));
  const appeared = [...observed.values()].filter(({ key }) => !known.some((incident) => incident.key === key));
  const changes = [...continued, ...appeared.map((alarm) => evaluateIncident(incidentOf(alarm, view), alarm, view))];
  const notices = changes.flatMap((change) => change.notices);
  const incidents = changes.flatMap(({ incident, isOver = false }) => (isOver ? [] : [incident]));
  const { after, summary } = afterQuietHours(incidents, view);
  const kept = state.notices.filter(
    (notice) =>
      channels.includes(notice.channel) &&
      hasReceiver(notice.channel, addressesOf(notice, settings)) &&
      !notices.some((newer) => isWorseStart(newer, notice)),
  );
  const health = healthOf(state.channels, channels);
  const isSame =
    health === state.channels &&
    known.length === state.incidents.length &&
    after.length === state.incidents.length &&
    after.every((incident, at) => incident === state.incidents[at]) &&
    kept.length === state.notices.length;
  if (isSame && notices.length === 0 && summary.length === 0) return state;
  const owing = [...kept, ...notices, ...summary].slice(-NOTICES_MAX);
  return { ...state, channels: health, incidents: after, notices: owing };
}

/** True for the start of an alarm that became worse before its lesser start was delivered, which would come later. */
function isWorseStart(newer: Notice, { type, channel, alarms }: Notice): boolean {
  const isSameKind = newer.type === 'alarm.started' && type === 'alarm.started' && newer.channel === channel;
  return isSameKind && newer.alarms[0]?.id === alarms[0]?.id;
}

function hasReceiver(channel: NoticeChannel, addresses: readonly string[]): boolean {
  return channel === 'webhook' || addresses.length > 0;
}

/** A channel that is no longer used has no health: nothing would show its recovery. */
function healthOf(channels: NotificationState['channels'], used: readonly NoticeChannel[]) {
  const isForgotten = (channel: NoticeChannel) => channels[channel] !== null && !used.includes(channel);
  const kept = (channel: NoticeChannel) => (isForgotten(channel) ? null : channels[channel]);
  return NOTICE_CHANNELS.some(isForgotten) ? { webhook: kept('webhook'), mail: kept('mail') } : channels;
}

interface IncidentChange {
  readonly incident: Incident;
  readonly notices: readonly Notice[];
  readonly isOver?: boolean;
}

function incidentOf(alarm: ObservedAlarm, { nowMs, newId }: AlarmEvaluation): Incident {
  const times = { seenAtMs: nowMs, missingSinceMs: null, startedAtMs: null, worseSinceMs: null, escalatedAtMs: null };
  return { ...alarm, ...times, id: newId(), isAnnounced: false, isHeldBack: false, acknowledged: null };
}

function evaluateIncident(incident: Incident, alarm: ObservedAlarm | null, view: AlarmEvaluation): IncidentChange {
  const { settings, nowMs } = view;
  const isHushed = isQuiet(settings, incident.severity, nowMs);
  const hold = holdsOf(incident.kind);
  if (alarm === null) {
    const missingSinceMs = incident.missingSinceMs ?? nowMs;
    const isOver = nowMs - missingSinceMs >= hold.endMs;
    // The end of an announced alarm waits for the end of quiet hours.
    if (isOver && (incident.startedAtMs === null || !isAlarmKind(incident.kind)))
      return { incident, notices: [], isOver };
    if (isOver && !isHushed) return { incident, notices: noticesOf('alarm.ended', incident, view), isOver };
    return { incident: incident.missingSinceMs === null ? { ...incident, missingSinceMs } : incident, notices: [] };
  }
  const seen = seenAgain(incident, alarm, nowMs);
  const { startedAtMs, escalatedAtMs, worseSinceMs } = seen;
  if (startedAtMs === null && !seen.isHeldBack) {
    return nowMs - seen.seenAtMs < hold.startMs ? { incident: seen, notices: [] } : started(seen, alarm, view);
  }
  if (seen.severity === 'wait' && worseSinceMs !== null && nowMs - worseSinceMs >= START_HOLD_MS) {
    return started(seen, alarm, view);
  }
  if (startedAtMs === null || seen.isHeldBack || isHushed) return { incident: seen, notices: [] };
  const escalateAfterMs = settings.escalate_after_minutes * MINUTE_MS;
  const isIgnored = escalateAfterMs > 0 && seen.acknowledged === null && nowMs - startedAtMs >= escalateAfterMs;
  const isEscalated = escalatedAtMs !== null && escalatedAtMs >= startedAtMs;
  if (!isIgnored || isEscalated) return { incident: seen, notices: [] };
  const notices = noticesOf('alarm.escalated', seen, view);
  return { incident: notices.length === 0 ? seen : { ...seen, escalatedAtMs: nowMs }, notices };
}

/** The incident of an alarm that holds. Returns the same object if nothing changed. */
function seenAgain(incident: Incident, alarm: ObservedAlarm, nowMs: number): Incident {
  const seen = incident.missingSinceMs === null ? incident : { ...incident, missingSinceMs: null };
  const isNew = seen.startedAtMs === null && !seen.isHeldBack;
  if (isNew || seen.severity === 'bad') return seen;
  const worseSinceMs = alarm.severity === 'bad' ? (seen.worseSinceMs ?? nowMs) : null;
  return worseSinceMs === seen.worseSinceMs ? seen : { ...seen, worseSinceMs };
}

/**
 * Announces the alarm as it is now: counts have grown since its first sight, and its severity may have risen. An
 * acknowledgement was of the lesser alarm.
 */
function started(seen: Incident, { severity, title, todo }: ObservedAlarm, view: AlarmEvaluation): IncidentChange {
  const current = { ...seen, severity, title, todo, acknowledged: null };
  if (isQuiet(view.settings, severity, view.nowMs)) return { incident: { ...current, isHeldBack: true }, notices: [] };
  const notices = noticesOf('alarm.started', current, view);
  const announced = { startedAtMs: view.nowMs, isAnnounced: notices.length > 0, isHeldBack: false };
  return { incident: { ...current, ...announced }, notices };
}

/** Announces in one summary what quiet hours held back and still holds. */
function afterQuietHours(incidents: readonly Incident[], view: AlarmEvaluation) {
  const { settings, nowMs, newId } = view;
  const released = incidents.filter(
    ({ isHeldBack, missingSinceMs, severity }) =>
      isHeldBack && missingSinceMs === null && !isQuiet(settings, severity, nowMs),
  );
  if (released.length === 0) return { after: incidents, summary: [] };
  const summary = owed({ id: `${newId()}.summary`, type: 'alarm.summary', alarms: released }, view);
  const isInSummary = ({ id }: Incident) => summary.some(({ alarms }) => alarms.some((alarm) => alarm.id === id));
  const after = incidents.map((incident) =>
    released.includes(incident)
      ? { ...incident, isHeldBack: false, startedAtMs: nowMs, isAnnounced: isInSummary(incident) }
      : incident,
  );
  return { after, summary };
}

function noticesOf(type: NoticeType, incident: Incident, view: AlarmEvaluation): readonly Notice[] {
  // A receiver drops a repeated id, also that of the lesser alarm.
  const isWorse = incident.worseSinceMs !== null && type !== 'alarm.ended';
  const id = `${incident.id}.${type.replace('alarm.', '')}${isWorse ? '.bad' : ''}`;
  return owed({ id, type, alarms: [incident] }, view, incident.escalatedAtMs !== null);
}

/**
 * The notice, once per channel with a receiver; without the alarm about the channel itself. `isEscalated`: the second
 * list of addresses knows of the alarm.
 */
function owed(
  about: { readonly id: string; readonly type: NoticeType; readonly alarms: readonly Incident[] },
  { settings, channels, nowMs }: AlarmEvaluation,
  isEscalated = false,
): readonly Notice[] {
  const mailed =
    about.type === 'alarm.escalated' ? ['escalate_to' as const] : ADDRESS_LISTS.slice(0, isEscalated ? 2 : 1);
  return channels.flatMap((channel): Notice[] => {
    const lists = channel === 'mail' ? mailed : [];
    const to = addressesIn(lists, settings);
    if (!hasReceiver(channel, to)) return [];
    const alarms = about.alarms
      .filter(({ failingChannel }) => failingChannel !== channel)
      .map(({ id, kind, severity, title, todo, seenAtMs }) => ({ id, kind, severity, title, todo, seenAtMs }));
    if (alarms.length === 0) return [];
    return [{ ...about, alarms, channel, lists, to, createdAtMs: nowMs, attempts: 0, nextAtMs: nowMs }];
  });
}

/** The notices to send now. The end of an alarm waits until what came before was delivered to the same channel. */
export function dueNotices({ notices }: NotificationState, nowMs: number): readonly Notice[] {
  const isAboutSame = (one: Notice, other: Notice) =>
    one.channel === other.channel && one.alarms.some(({ id }) => other.alarms.some((alarm) => alarm.id === id));
  const waits = (notice: Notice, at: number) =>
    notice.type === 'alarm.ended' && notices.slice(0, at).some((earlier) => isAboutSame(earlier, notice));
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

/**
 * The alarms to show, the worst first, each with its incident: those that this version observes, and those of a kind that
 * only a later version knows. This version cannot see the end of the latter. So it shows one only from its announcement
 * until it is acknowledged, so that a person can end it, and keeps its incident.
 */
export function shownAlarms<Alarm extends Pick<ObservedAlarm, 'key' | 'severity'>>(
  observed: readonly Alarm[],
  incidents: readonly Incident[],
): readonly { readonly alarm: Alarm | Incident; readonly incident: Incident | null }[] {
  const own = observed.map((alarm) => ({ alarm, incident: incidents.find(({ key }) => key === alarm.key) ?? null }));
  const others = incidents
    .filter(
      ({ kind, startedAtMs, acknowledged }) => !isAlarmKind(kind) && startedAtMs !== null && acknowledged === null,
    )
    .map((incident) => ({ alarm: incident, incident }));
  const rankOf = ({ alarm }: { readonly alarm: Alarm | Incident }) => ALARM_SEVERITIES.indexOf(alarm.severity);
  return [...own, ...others].toSorted((a, b) => rankOf(a) - rankOf(b));
}

/** The state with an acknowledged incident; null if there is no announced one of this id. The first one counts. */
export function acknowledge(
  state: NotificationState,
  id: string,
  act: { readonly by: string; readonly atMs: number },
): NotificationState | null {
  const known = state.incidents.find((incident) => incident.id === id && incident.startedAtMs !== null);
  if (known === undefined) return null;
  if (known.acknowledged !== null) return state;
  const incidents = state.incidents.map((each) => (each === known ? { ...each, acknowledged: act } : each));
  return { ...state, incidents };
}
