import type { NotificationsView } from '../../../contracts/notifications';
import { ALARM_KINDS, NOTICE_CHANNELS, type NoticeChannel } from '../../../domain/notification-settings';
import type { FormFailure } from '../../page';
import { PAGES } from '../../page-table';
import { Field, PostForm, type FieldProps } from '../../parts/form';
import { digestOf } from '../../parts/live-form';
import { ActionForm, Table, Tabs } from '../../parts/ops';
import { noticeProblemText } from '../../parts/notice-problem';
import { Problem } from '../../parts/problem';
import { CHANGED_MEANWHILE } from '../../submit';
import { Badge, Ref, Timestamp } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';

/** What became of a test notice. */
export interface TestResult {
  readonly channel: NoticeChannel;
  readonly delivered: boolean;
  readonly problem: string | null;
}

interface NotificationsProps {
  readonly viewer: Viewer;
  readonly view: NotificationsView;
  readonly failure: FormFailure | null;
  readonly tested: TestResult | null;
}

const PATH = PAGES.notifications.path;

export function NotificationsPage(props: NotificationsProps) {
  const { viewer, view, failure, tested } = props;
  const messages = viewer.messages.notifications;
  return (
    <>
      <h1>{messages.title}</h1>
      <Tabs viewer={viewer} here={PATH} />
      <p>{messages.intro}</p>
      {tested !== null && <Tested viewer={viewer} tested={tested} />}
      <Problem viewer={viewer} failure={failure} form="test" />
      <Channels viewer={viewer} view={view} />
      <Settings viewer={viewer} view={view} failure={failure} />
      <p class="muted">{messages.sources[view.source]}</p>
      {view.source === 'person' && (
        <ActionForm
          viewer={viewer}
          form="reset"
          action={`${PATH}/reset`}
          label={messages.reset}
          about={messages.reset}
          hint={messages.resetWhat}
          sure={messages.resetSure}
          failure={failure}
        />
      )}
    </>
  );
}

function Tested({ viewer, tested }: { viewer: Viewer; tested: TestResult }) {
  const { channels, testDelivered, testFailed, problem } = viewer.messages.notifications;
  const channel = channels[tested.channel];
  return (
    <section class={`card verdict ${tested.delivered ? 'good' : 'bad'}`}>
      <p role="status">{tested.delivered ? testDelivered({ channel }) : testFailed({ channel })}</p>
      {tested.problem !== null && (
        <p>
          {problem} <NoticeProblem viewer={viewer} problem={tested.problem} />
        </p>
      )}
    </section>
  );
}

/** What prevents the delivery, and its code, which the log and the API have too. */
function NoticeProblem({ viewer, problem }: { viewer: Viewer; problem: string }) {
  return (
    <>
      {noticeProblemText(viewer.messages, problem)}{' '}
      <span class="muted">
        (<Ref>{problem}</Ref>)
      </span>
    </>
  );
}

/** Whether each channel is used and works, with a test of it. */
function Channels({ viewer, view }: Pick<NotificationsProps, 'viewer' | 'view'>) {
  const messages = viewer.messages.notifications;
  const { heads } = messages;
  return (
    <Table
      caption={messages.channelsTitle}
      heads={[heads.channel, heads.state, heads.delivered, heads.waiting, heads.test]}
      rows={NOTICE_CHANNELS.map((name) => {
        const channel = view.channels[name];
        return {
          id: `channel-${name}`,
          cells: [
            messages.channels[name],
            <ChannelState viewer={viewer} channel={channel} />,
            channel.delivered_at === null ? (
              <span class="muted">{messages.never}</span>
            ) : (
              <Timestamp viewer={viewer} at={channel.delivered_at} />
            ),
            String(channel.waiting),
            channel.is_used ? (
              <PostForm
                viewer={viewer}
                action={`${PATH}/test`}
                label={messages.testOf({ channel: messages.channels[name] })}
              >
                <input type="hidden" name="channel" value={name} />
                <div>
                  <button>{messages.test}</button>
                </div>
              </PostForm>
            ) : (
              <span class="muted">{messages.noTest}</span>
            ),
          ],
        };
      })}
    />
  );
}

function ChannelState({ viewer, channel }: { viewer: Viewer; channel: NotificationsView['channels'][NoticeChannel] }) {
  const messages = viewer.messages.notifications;
  if (channel.missing.length > 0) {
    return (
      <>
        <Badge tone="quiet">{messages.missing}</Badge> <Ref>{channel.missing.join(', ')}</Ref>
      </>
    );
  }
  if (!channel.is_used) return <Badge tone="quiet">{messages.notUsed}</Badge>;
  if (channel.failing_since === null) return <Badge tone="good">{messages.works}</Badge>;
  return (
    <>
      <Badge tone="bad">{messages.failing}</Badge> <Timestamp viewer={viewer} at={channel.failing_since} />{' '}
      {channel.problem !== null && <NoticeProblem viewer={viewer} problem={channel.problem} />}
    </>
  );
}

function Settings({ viewer, view, failure }: Pick<NotificationsProps, 'viewer' | 'view' | 'failure'>) {
  const messages = viewer.messages.notifications;
  const { fields, hints, languages, severities } = messages;
  const { settings } = view;
  // Of a form that was overtaken, the entries are listed beside the fields, which show what is recorded now.
  const isOvertaken = failure?.refusal.code === CHANGED_MEANWHILE.code;
  const shown = isOvertaken ? null : failure;
  const common = { viewer, form: 'settings', failure: shown, autocomplete: 'off' };
  const latin = { ...common, isLatin: true };
  const texts: readonly (readonly [
    name: keyof typeof fields,
    value: string,
    hint: string | null,
    also?: Pick<FieldProps, 'inputMode' | 'isRequired'>,
  ])[] = [
    ['mail_to', settings.mail_to.join(', '), hints.mail_to],
    ['escalate_to', settings.escalate_to.join(', '), hints.escalate_to],
    [
      'escalate_after_minutes',
      String(settings.escalate_after_minutes),
      hints.escalate_after_minutes,
      { inputMode: 'numeric', isRequired: true },
    ],
    ['webhook_url', settings.webhook_url ?? '', hints.webhook_url],
    ['quiet_from', settings.quiet_from ?? '', hints.quiet_from],
    ['quiet_to', settings.quiet_to ?? '', null],
    ['time_zone', settings.time_zone, null, { isRequired: true }],
  ];
  return (
    <section class="card" aria-labelledby="settings-title">
      <h2 id="settings-title">{messages.settingsTitle}</h2>
      <PostForm viewer={viewer} action={PATH} question={digestOf(settings)}>
        <Problem viewer={viewer} failure={failure} form="settings" showsEntered={isOvertaken} />
        <div class="fields">
          {texts.map(([name, value, hint, also]) => (
            <Field {...latin} name={name} label={fields[name]} value={value} {...(hint ? { hint } : {})} {...also} />
          ))}
          <Field
            {...common}
            name="quiet_severities"
            label={fields.quiet_severities}
            value={settings.quiet_severities.toSorted().join(',')}
            options={[
              ['wait', severities.wait],
              ['bad,wait', severities.all],
            ]}
            isRequired
          />
          <Field
            {...common}
            name="language"
            label={fields.language}
            value={settings.language}
            options={[
              ['en', languages.en],
              ['ar', languages.ar],
            ]}
            isRequired
          />
        </div>
        <Kinds viewer={viewer} failure={shown} muted={settings.muted_alarms} />
        <div>
          <button class="main">{messages.save}</button>
        </div>
      </PostForm>
    </section>
  );
}

/** One mark per kind of alarm; without it, the kind has no notices. */
function Kinds(props: { viewer: Viewer; failure: FormFailure | null; muted: readonly string[] }) {
  const { viewer, failure, muted } = props;
  const messages = viewer.messages.notifications;
  const entered = failure?.form === 'settings' ? failure.entered.getAll('announced') : null;
  return (
    <fieldset class="alarm-kinds">
      <legend>{messages.fields.muted_alarms}</legend>
      {ALARM_KINDS.map((kind) => (
        <label>
          <input
            type="checkbox"
            name="announced"
            value={kind}
            checked={entered === null ? !muted.includes(kind) : entered.includes(kind)}
          />{' '}
          {messages.kinds[kind]}
        </label>
      ))}
      {/* Only a version that knows these kinds can announce them. */}
      {muted
        .filter((kind) => oneOf(ALARM_KINDS, kind) === null)
        .map((kind) => (
          <label>
            <input type="checkbox" disabled /> <Ref>{kind}</Ref>
          </label>
        ))}
    </fieldset>
  );
}
