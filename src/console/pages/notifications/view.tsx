import type { NotificationsView } from '../../../contracts/ops/notifications';
import { NOTICE_CHANNELS, type NoticeChannel } from '../../../domain/ops/notification-settings';
import type { FormFailure } from '../../page';
import { PAGES } from '../../page-table';
import { PostForm } from '../../parts/form';
import { Table, Tabs } from '../../parts/ops';
import { noticeProblemText } from '../../parts/alarm-text';
import { Problem } from '../../parts/problem';
import { Badge, Ref, Timestamp } from '../../parts/text';
import type { Viewer } from '../../viewer';

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
      <h1>{viewer.messages.ops.tab.notifications}</h1>
      <Tabs viewer={viewer} here={PATH} />
      <p>{messages.intro}</p>
      {tested !== null && <Tested viewer={viewer} tested={tested} />}
      <Problem viewer={viewer} failure={failure} form="test" />
      <Channels viewer={viewer} view={view} />
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
      heads={[heads.channel, viewer.messages.terms.state, heads.delivered, heads.waiting, heads.test]}
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
