import type { Actor } from '../../domain/ops/audit';
import { ROUTES } from '../../contracts/operator-routes';
import { NOTICE_CHANNELS, type NoticeChannel } from '../../domain/ops/notification-settings';
import { page, type FormFailure, type PageResult, type Pages, type PageTools, type PageVisit } from '../page';
import { PAGES } from '../page-table';
import { readRoute } from '../api-calls';
import { oneOf, type Viewer } from '../viewer';
import type { NotificationsView } from '../../contracts/ops/notifications';
import { PostForm } from '../parts/form';
import { Table, Tabs } from '../parts/ops';
import { noticeProblemText } from '../parts/alarm-text';
import { Problem } from '../parts/problem';
import { Badge, Ref, Timestamp } from '../parts/text';

const PATH = PAGES.notifications.path;

/** The page of notifications: the state of the channels, and a test of each. */
export function serveNotifications(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const read = (actor: Actor) => readRoute(api, ROUTES.readNotifications, { actor });
  const show = async (
    { viewer, actor }: PageVisit,
    shown: { readonly failure: FormFailure | null; readonly tested?: TestResult },
  ): Promise<PageResult> => {
    const { failure, tested = null } = shown;
    const view = await read(actor);
    return page(
      viewer.messages.ops.tab.notifications,
      <NotificationsPage viewer={viewer} view={view} failure={failure} tested={tested} />,
      { httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get(PATH, PAGES.notifications.role, (visit) => show(visit, { failure: null }));

  pages.post(`${PATH}/test`, 'ops', async (posted) => {
    const channel = oneOf(NOTICE_CHANNELS, posted.form.get('channel') ?? undefined);
    const answer = await api.call(ROUTES.testNotifications, { actor: posted.actor, body: { channel } });
    if (channel === null || !answer.ok) {
      if (answer.ok) return show(posted, { failure: null });
      return show(posted, { failure: { form: 'test', refusal: answer.refusal, entered: posted.form } });
    }
    return show(posted, { failure: null, tested: { channel, ...answer.value } });
  });
}

/** What became of a test notice. */
interface TestResult {
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

function NotificationsPage(props: NotificationsProps) {
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
