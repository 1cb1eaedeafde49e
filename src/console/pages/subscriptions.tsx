import { ROUTES } from '../../contracts/operator-routes';
import type { SubscriptionView } from '../../contracts/ops/subscriptions';
import { SUBSCRIPTION_INCLUDES } from '../../domain/ops/subscriptions';
import type { ApiAnswer } from '../../workflow/operator-port';
import { keyed, readRoute, submit } from '../api-calls';
import { bodyOf } from '../forms';
import {
  page,
  type DoneMessage,
  type FormFailure,
  type PageResult,
  type Pages,
  type PageTools,
  type PageVisit,
  type PostedForm,
} from '../page';
import { PAGES } from '../page-table';
import { Field, PostForm } from '../parts/form';
import { ActionForm, Table, Tabs } from '../parts/ops';
import { Problem } from '../parts/problem';
import { Badge, Empty, Ref, ShownOnce, Timestamp, UserText } from '../parts/text';
import type { Viewer } from '../viewer';

const PATH = PAGES.subscriptions.path;

interface Shown {
  readonly failure: FormFailure | null;
  /** What became of a test. */
  readonly tested?: string;
}

/** The page of subscriptions. The secret of one is shown once, on the response of the form that made it. */
export function serveSubscriptions(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const show = async ({ viewer, actor }: PageVisit, { failure, tested }: Shown): Promise<PageResult> => {
    const { items } = await readRoute(api, ROUTES.listSubscriptions, { actor });
    const title = viewer.messages.ops.tab.subscriptions;
    const shown = { viewer, failure, subscriptions: items };
    return page(title, <SubscriptionsPage {...shown} tested={tested ?? null} />, {
      httpStatus: failure?.refusal.httpStatus ?? 200,
    });
  };
  const showSecret = async (
    posted: PostedForm,
    answer: ApiAnswer<SubscriptionView | (SubscriptionView & { secret: string })>,
    form: string,
  ): Promise<PageResult> => {
    if (!answer.ok) return show(posted, { failure: { form, refusal: answer.refusal, entered: posted.form } });
    const secret = 'secret' in answer.value ? answer.value.secret : null;
    const content = <SecretPage viewer={posted.viewer} name={answer.value.name} secret={secret} />;
    return page(posted.viewer.messages.ops.tab.subscriptions, content, { isShownOnce: true });
  };
  const paramsOf = (posted: PostedForm) => ({ subscription_id: posted.params('id') });

  pages.get(PATH, PAGES.subscriptions.role, (visit) => show(visit, { failure: null }));

  pages.post(PATH, 'ops', async (posted) => {
    const body = bodyOf(posted.form, { only: ['name', 'url', 'include'] });
    return showSecret(posted, await api.call(ROUTES.createSubscription, { ...keyed(posted), body }), 'create');
  });

  pages.post(`${PATH}/:id/rotate`, 'ops', async (posted) => {
    const body = bodyOf(posted.form, { only: ['grace_hours'], numbers: ['grace_hours'] });
    const call = { ...keyed(posted), params: paramsOf(posted), body };
    return showSecret(posted, await api.call(ROUTES.rotateSubscription, call), `rotate-${posted.params('id')}`);
  });

  pages.post(`${PATH}/:id/test`, 'ops', async (posted) => {
    const call = { actor: posted.actor, params: paramsOf(posted), body: {} };
    const answer = await api.call(ROUTES.testSubscription, call);
    const form = `test-${posted.params('id')}`;
    if (!answer.ok) return show(posted, { failure: { form, refusal: answer.refusal, entered: posted.form } });
    const { tested, testFailed } = posted.viewer.messages.subscriptions;
    const { delivered, problem } = answer.value;
    return show(posted, { failure: null, tested: delivered ? tested : testFailed({ problem: problem ?? '' }) });
  });

  const act = (
    name: 'pause' | 'resume' | 'replay' | 'remove',
    asked: {
      route:
        | typeof ROUTES.pauseSubscription
        | typeof ROUTES.resumeSubscription
        | typeof ROUTES.replaySubscription
        | typeof ROUTES.deleteSubscription;
      done: DoneMessage;
      bodyIn?: (posted: PostedForm) => object;
    },
  ) =>
    pages.post(`${PATH}/:id/${name}`, 'ops', (posted) =>
      submit(api, posted, {
        route: asked.route,
        form: `${name}-${posted.params('id')}`,
        params: paramsOf(posted),
        body: asked.bodyIn?.(posted) ?? {},
        next: PATH,
        done: asked.done,
        again: (failure) => show(posted, { failure }),
      }),
    );
  act('pause', { route: ROUTES.pauseSubscription, done: 'subscription_paused' });
  act('resume', { route: ROUTES.resumeSubscription, done: 'subscription_resumed' });
  act('replay', {
    route: ROUTES.replaySubscription,
    done: 'subscription_replayed',
    bodyIn: ({ form }) => ({ ...bodyOf(form, { only: ['since'] }), preview: false }),
  });
  act('remove', { route: ROUTES.deleteSubscription, done: 'subscription_deleted' });
}

interface ListProps {
  readonly viewer: Viewer;
  readonly subscriptions: readonly SubscriptionView[];
  readonly failure: FormFailure | null;
}

function SubscriptionsPage(props: ListProps & { readonly tested: string | null }) {
  const { viewer, subscriptions, failure, tested } = props;
  const messages = viewer.messages.subscriptions;
  return (
    <>
      <h1>{viewer.messages.ops.tab.subscriptions}</h1>
      <Tabs viewer={viewer} here={PATH} />
      {tested !== null && <p role="status">{tested}</p>}
      <p>{messages.intro}</p>
      <NewSubscription viewer={viewer} failure={failure} />
      {subscriptions.length === 0 ? (
        <Empty title={messages.none} hint={messages.noneHint} />
      ) : (
        <SubscriptionTable {...props} />
      )}
    </>
  );
}

function NewSubscription({ viewer, failure }: Pick<ListProps, 'viewer' | 'failure'>) {
  const messages = viewer.messages.subscriptions;
  const shared = { viewer, form: 'create', failure, isRequired: true } as const;
  return (
    <section class="card new-key" aria-labelledby="create-title">
      <h2 id="create-title">{messages.create}</h2>
      <PostForm viewer={viewer} action={PATH}>
        <Problem viewer={viewer} failure={failure} form="create" />
        <div class="fields">
          <Field
            {...shared}
            name="name"
            label={messages.name}
            hint={messages.nameHint}
            maxLength={100}
            autocomplete="off"
          />
          <Field {...shared} name="url" label={messages.url} hint={messages.urlHint} maxLength={2000} isLatin />
          <Field
            {...shared}
            name="include"
            label={messages.include}
            options={SUBSCRIPTION_INCLUDES.map((name) => [name, messages.includes[name]] as const)}
          />
        </div>
        <div>
          <button class="main">{messages.submit}</button>
        </div>
      </PostForm>
    </section>
  );
}

function SubscriptionTable({ viewer, subscriptions, failure }: ListProps) {
  const messages = viewer.messages.subscriptions;
  const { heads } = messages;
  return (
    <Table
      caption={viewer.messages.ops.tab.subscriptions}
      heads={[messages.name, messages.url, heads.state, heads.last, heads.lag, heads.acts]}
      rows={subscriptions.map((subscription) => ({
        id: `subscription-${subscription.id}`,
        cells: [
          <UserText>{subscription.name}</UserText>,
          <Ref>{subscription.url}</Ref>,
          <State viewer={viewer} subscription={subscription} />,
          <LastAnswer viewer={viewer} subscription={subscription} />,
          <>
            {messages.lag({ count: subscription.lag_seconds })}
            {subscription.behind.length > 0 && <div>{messages.behind({ count: subscription.behind.length })}</div>}
          </>,
          <Acts viewer={viewer} subscription={subscription} failure={failure} />,
        ],
      }))}
    />
  );
}

interface OneProps {
  readonly viewer: Viewer;
  readonly subscription: SubscriptionView;
}

function State({ viewer, subscription }: OneProps) {
  const messages = viewer.messages.subscriptions;
  const { paused_by: pausedBy, tried_again_at: triedAgainAt } = subscription;
  if (pausedBy !== null) return <Badge tone="wait">{messages.pausedBy[pausedBy]}</Badge>;
  if (triedAgainAt === null) return <Badge tone="good">{messages.active}</Badge>;
  return (
    <>
      <Badge tone="bad">{messages.failing}</Badge> <Timestamp viewer={viewer} at={triedAgainAt} />
    </>
  );
}

function LastAnswer({ viewer, subscription: { last_answer: last } }: OneProps) {
  const messages = viewer.messages.subscriptions;
  if (last === null) return <span class="muted">{messages.noAnswer}</span>;
  return (
    <>
      {last.problem === null ? messages.accepted : <code>{last.problem}</code>}{' '}
      <Timestamp viewer={viewer} at={last.at} />
    </>
  );
}

function Acts({ viewer, subscription, failure }: OneProps & Pick<ListProps, 'failure'>) {
  const messages = viewer.messages.subscriptions;
  const { id, name, paused_by: pausedBy } = subscription;
  const actionOf = (act: 'pause' | 'resume' | 'test' | 'rotate' | 'replay' | 'remove') => ({
    viewer,
    failure,
    form: `${act}-${id}`,
    action: `${PATH}/${encodeURIComponent(id)}/${act}`,
    label: messages[act],
    about: messages[`${act}Of`]({ name }),
    hint: messages[`${act}What`],
  });
  return (
    <div class="acts">
      <ActionForm {...actionOf('test')} />
      <ActionForm {...actionOf(pausedBy === null ? 'pause' : 'resume')} />
      <ActionForm {...actionOf('replay')}>
        <Field
          viewer={viewer}
          form={`replay-${id}`}
          name="since"
          label={messages.since}
          failure={failure}
          isRequired
          isLatin
        />
      </ActionForm>
      <ActionForm {...actionOf('rotate')}>
        <Field
          viewer={viewer}
          form={`rotate-${id}`}
          name="grace_hours"
          label={messages.grace}
          value="24"
          inputMode="decimal"
          failure={failure}
          isRequired
          isLatin
        />
      </ActionForm>
      <ActionForm {...actionOf('remove')} isDanger />
    </div>
  );
}

/** Shows a secret, this once; null when it was shown before. */
function SecretPage({ viewer, name, secret }: { viewer: Viewer; name: string; secret: string | null }) {
  const messages = viewer.messages.subscriptions;
  return (
    <>
      <h1>{messages.secretOf({ name })}</h1>
      <ShownOnce label={messages.secret} text={secret} messages={messages} />
      <p>
        <a class="button" href={PATH}>
          {messages.back}
        </a>
      </p>
    </>
  );
}
