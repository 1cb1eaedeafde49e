import type { z } from 'zod';
import { ROUTES } from '../../contracts/operator-routes';
import type { apiKeyView } from '../../contracts/operator';
import type { ApiAnswer } from '../../workflow/operator-port';
import {
  page,
  type FormFailure,
  type PageResult,
  type Pages,
  type PostedForm,
  type PageVisit,
  type PageTools,
} from '../page';
import { PAGES } from '../page-table';
import { keyed, readRoute, submit } from '../api-calls';
import { bodyOf } from '../forms';
import { ROLES } from '../../domain/vocabulary';
import { Field, PostForm } from '../parts/form';
import { Problem } from '../parts/problem';
import { Empty, ShownOnce, Timestamp, UserText } from '../parts/text';
import type { Viewer } from '../viewer';
import { ActionForm, Table, Tabs } from '../parts/ops';

type KeyView = z.output<typeof apiKeyView>;

const PATH = '/ops/keys';

/** Pages of API keys. A key is shown once, on the response of the form that created it. */
export function serveKeys(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const show = async ({ viewer, actor }: PageVisit, failure: FormFailure | null): Promise<PageResult> => {
    const { items } = await readRoute(api, ROUTES.listApiKeys, { actor });
    return page(viewer.messages.ops.tab.keys, <KeyListPage viewer={viewer} keys={items} failure={failure} />, {
      httpStatus: failure?.refusal.httpStatus ?? 200,
    });
  };
  const shown = async (
    posted: PostedForm,
    answer: ApiAnswer<KeyView | (KeyView & { api_key: string })>,
    { form, act }: { form: string; act: 'made' | 'rotated' },
  ): Promise<PageResult> => {
    if (!answer.ok) return show(posted, { form, refusal: answer.refusal, entered: posted.form });
    const { viewer } = posted;
    const text = 'api_key' in answer.value ? answer.value.api_key : null;
    const content = <KeyShownPage viewer={viewer} apiKey={answer.value} text={text} act={act} />;
    return page(viewer.messages.ops.tab.keys, content, { isShownOnce: true });
  };

  pages.get(PAGES.keys.path, PAGES.keys.role, (visit) => show(visit, null));

  pages.post(PATH, 'ops', async (posted) => {
    const body = bodyOf(posted.form, { only: ['name', 'role'] });
    const answer = await api.call(ROUTES.createApiKey, { ...keyed(posted), body });
    return shown(posted, answer, { form: 'create', act: 'made' });
  });

  pages.post(`${PATH}/:id/rotate`, 'ops', async (posted) => {
    const id = posted.params('id');
    const body = bodyOf(posted.form, { only: ['grace_hours'], numbers: ['grace_hours'] });
    const answer = await api.call(ROUTES.rotateApiKey, { ...keyed(posted), params: { key_id: id }, body });
    return shown(posted, answer, { form: `rotate-${id}`, act: 'rotated' });
  });

  pages.post(`${PATH}/:id/revoke`, 'ops', async (posted) => {
    const id = posted.params('id');
    return submit(api, posted, {
      route: ROUTES.revokeApiKey,
      form: `revoke-${id}`,
      params: { key_id: id },
      next: PATH,
      done: 'key_revoked',
      again: (failure) => show(posted, failure),
    });
  });
}

interface KeyListProps {
  readonly viewer: Viewer;
  readonly keys: readonly KeyView[];
  readonly failure: FormFailure | null;
}

/** The keys there are, and how to make, change and end one. */
function KeyListPage(props: KeyListProps) {
  const { viewer, keys, failure } = props;
  const messages = viewer.messages.keys;
  const forms = ['create', ...keys.flatMap(({ id }) => [`rotate-${id}`, `revoke-${id}`])];
  return (
    <>
      <h1>{viewer.messages.ops.tab.keys}</h1>
      <Tabs viewer={viewer} here="/ops/keys" />
      {failure && !forms.includes(failure.form) && <Problem viewer={viewer} failure={failure} form={failure.form} />}
      <p>{messages.intro}</p>
      <NewKey viewer={viewer} failure={failure} />
      {keys.length === 0 ? <Empty title={messages.none} hint={messages.noneHint} /> : <KeyTable {...props} />}
      {keys.length > 0 && <p class="muted">{messages.bootstrap}</p>}
    </>
  );
}

function NewKey({ viewer, failure }: Pick<KeyListProps, 'viewer' | 'failure'>) {
  const messages = viewer.messages.keys;
  return (
    <section class="card new-key" aria-labelledby="create-title">
      <h2 id="create-title">{messages.create}</h2>
      <PostForm viewer={viewer} action="/ops/keys">
        <Problem viewer={viewer} failure={failure} form="create" />
        <div class="fields">
          <Field
            viewer={viewer}
            form="create"
            name="name"
            label={messages.name}
            hint={messages.nameHint}
            maxLength={100}
            autocomplete="off"
            failure={failure}
            isRequired
          />
          <Field
            viewer={viewer}
            form="create"
            name="role"
            label={messages.role}
            options={ROLES.map((role) => [role, messages.roleHints[role]] as const)}
            failure={failure}
            isRequired
          />
        </div>
        <div>
          <button class="main">{messages.submit}</button>
        </div>
      </PostForm>
    </section>
  );
}

function KeyTable({ viewer, keys, failure }: KeyListProps) {
  const messages = viewer.messages.keys;
  const { heads } = messages;
  return (
    <Table
      caption={viewer.messages.ops.tab.keys}
      heads={[messages.name, messages.role, heads.created, heads.old, heads.acts]}
      rows={keys.map((key) => ({
        id: `key-${key.id}`,
        cells: [
          <UserText>{key.name}</UserText>,
          viewer.messages.terms.roles[key.role],
          <Timestamp viewer={viewer} at={key.created_at} />,
          key.previous_valid_until === null ? (
            <span class="muted">{messages.noOld}</span>
          ) : (
            <Timestamp viewer={viewer} at={key.previous_valid_until} />
          ),
          <Acts viewer={viewer} apiKey={key} failure={failure} />,
        ],
      }))}
    />
  );
}

function Acts({ viewer, apiKey, failure }: { viewer: Viewer; apiKey: KeyView; failure: FormFailure | null }) {
  const messages = viewer.messages.keys;
  const { id, name } = apiKey;
  const address = `/ops/keys/${encodeURIComponent(id)}`;
  return (
    <div class="acts">
      <ActionForm
        viewer={viewer}
        form={`rotate-${id}`}
        action={`${address}/rotate`}
        label={messages.rotate}
        about={messages.rotateOf({ name })}
        hint={messages.rotateWhat}
        sure={messages.rotateSubmit}
        failure={failure}
      >
        <Field
          viewer={viewer}
          form={`rotate-${id}`}
          name="grace_hours"
          label={messages.grace}
          hint={messages.graceHint}
          value="24"
          inputMode="decimal"
          failure={failure}
          isRequired
          isLatin
        />
      </ActionForm>
      <ActionForm
        viewer={viewer}
        form={`revoke-${id}`}
        action={`${address}/revoke`}
        label={messages.revoke}
        about={messages.revokeOf({ name })}
        hint={messages.revokeWhat}
        sure={messages.revokeSure}
        failure={failure}
        isDanger
      />
    </div>
  );
}

/** Shows the text of a key, this once; `text` is null when it was shown before. */
function KeyShownPage(props: {
  readonly viewer: Viewer;
  readonly apiKey: KeyView;
  readonly text: string | null;
  readonly act: 'made' | 'rotated';
}) {
  const { viewer, apiKey, text, act } = props;
  const messages = viewer.messages.keys;
  return (
    <>
      <h1>{messages[act]({ name: apiKey.name })}</h1>
      <ShownOnce label={viewer.messages.signIn.key} text={text} messages={messages}>
        {apiKey.previous_valid_until !== null && (
          <p>
            {messages.oldUntil} <Timestamp viewer={viewer} at={apiKey.previous_valid_until} />
          </p>
        )}
      </ShownOnce>
      <p>
        <a class="button" href="/ops/keys">
          {messages.back}
        </a>
      </p>
    </>
  );
}
