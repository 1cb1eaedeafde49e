import type { z } from 'zod';
import type { apiKeyView } from '../../../contracts/operator';
import { ROLES } from '../../../domain/vocabulary';
import type { Failure } from '../../answers';
import { Field, PostForm } from '../../parts/form';
import { Problem } from '../../parts/problem';
import { Empty, Moment, Written } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { Act } from './act';
import { Table } from './table';
import { Tabs } from './tabs';

type KeyView = z.output<typeof apiKeyView>;

interface ListProps {
  readonly viewer: Viewer;
  readonly keys: readonly KeyView[];
  readonly failure: Failure | null;
}

/** The keys there are, and how to make, change and end one. */
export function KeyListPage(props: ListProps) {
  const { viewer, keys, failure } = props;
  const words = viewer.words.keys;
  const forms = ['create', ...keys.flatMap(({ id }) => [`rotate-${id}`, `revoke-${id}`])];
  return (
    <>
      <h1>{words.title}</h1>
      <Tabs viewer={viewer} here="/ops/keys" />
      {failure && !forms.includes(failure.form) && <Problem viewer={viewer} failure={failure} form={failure.form} />}
      <p>{words.intro}</p>
      <NewKey viewer={viewer} failure={failure} />
      {keys.length === 0 ? <Empty title={words.none} hint={words.noneHint} /> : <KeyTable {...props} />}
      {keys.length > 0 && <p class="muted">{words.bootstrap}</p>}
    </>
  );
}

function NewKey({ viewer, failure }: Pick<ListProps, 'viewer' | 'failure'>) {
  const words = viewer.words.keys;
  return (
    <section class="card new-key" aria-labelledby="create-title">
      <h2 id="create-title">{words.create}</h2>
      <PostForm viewer={viewer} action="/ops/keys">
        <Problem viewer={viewer} failure={failure} form="create" />
        <div class="fields">
          <Field
            viewer={viewer}
            form="create"
            name="name"
            label={words.name}
            hint={words.nameHint}
            maxLength={100}
            autocomplete="off"
            failure={failure}
            isRequired
          />
          <Field
            viewer={viewer}
            form="create"
            name="role"
            label={words.role}
            options={ROLES.map((role) => [role, words.roleHints[role]] as const)}
            failure={failure}
            isRequired
          />
        </div>
        <div>
          <button class="main">{words.submit}</button>
        </div>
      </PostForm>
    </section>
  );
}

function KeyTable({ viewer, keys, failure }: ListProps) {
  const words = viewer.words.keys;
  const { heads } = words;
  return (
    <Table
      caption={words.table}
      heads={[heads.name, heads.role, heads.created, heads.old, heads.acts]}
      rows={keys.map((key) => ({
        id: `key-${key.id}`,
        cells: [
          <Written>{key.name}</Written>,
          viewer.words.terms.roles[key.role],
          <Moment viewer={viewer} at={key.created_at} />,
          key.previous_valid_until === null ? (
            <span class="muted">{words.noOld}</span>
          ) : (
            <Moment viewer={viewer} at={key.previous_valid_until} />
          ),
          <Acts viewer={viewer} apiKey={key} failure={failure} />,
        ],
      }))}
    />
  );
}

function Acts({ viewer, apiKey, failure }: { viewer: Viewer; apiKey: KeyView; failure: Failure | null }) {
  const words = viewer.words.keys;
  const { id, name } = apiKey;
  const address = `/ops/keys/${encodeURIComponent(id)}`;
  return (
    <div class="acts">
      <Act
        viewer={viewer}
        form={`rotate-${id}`}
        action={`${address}/rotate`}
        label={words.rotate}
        about={words.rotateOf(name)}
        hint={words.rotateWhat}
        sure={words.rotateSubmit}
        failure={failure}
      >
        <Field
          viewer={viewer}
          form={`rotate-${id}`}
          name="grace_hours"
          label={words.grace}
          hint={words.graceHint}
          value="24"
          inputMode="decimal"
          failure={failure}
          isRequired
          isLatin
        />
      </Act>
      <Act
        viewer={viewer}
        form={`revoke-${id}`}
        action={`${address}/revoke`}
        label={words.revoke}
        about={words.revokeOf(name)}
        hint={words.revokeWhat}
        sure={words.revokeSure}
        failure={failure}
        isDanger
      />
    </div>
  );
}

/** Shows the text of a key, this once; `text` is null when it was shown before. */
export function KeyShownPage(props: {
  readonly viewer: Viewer;
  readonly apiKey: KeyView;
  readonly text: string | null;
  readonly act: 'made' | 'rotated';
}) {
  const { viewer, apiKey, text, act } = props;
  const words = viewer.words.keys;
  return (
    <>
      <h1>{words[act](apiKey.name)}</h1>
      <div class="card shown-key">
        {text === null ? (
          <Empty title={words.shownBefore} hint={words.shownBeforeHint} />
        ) : (
          <>
            <p role="status">{words.once}</p>
            <label for="shown-key">{words.text}</label>
            <input id="shown-key" value={text} dir="ltr" readonly autocomplete="off" spellcheck={false} />
          </>
        )}
        {apiKey.previous_valid_until !== null && (
          <p>
            {words.oldUntil} <Moment viewer={viewer} at={apiKey.previous_valid_until} />
          </p>
        )}
      </div>
      <p>
        <a class="button" href="/ops/keys">
          {words.back}
        </a>
      </p>
    </>
  );
}
