import type { SignInProblem } from '../../workflow/identity-port';
import { page, type FormFailure, type PageResult } from '../page';
import type { SignInWays } from '../sessions';
import type { Viewer } from '../viewer';
import { Field, PostForm } from './form';
import { Problem } from './problem';
import { Unsaved, UnsavedFields, waitingForm, type UnsavedForm } from './unsaved';

/** Where a sign-in with the identity provider begins. */
export const PROVIDER_PATH = '/sign-in/oidc';
/** Leads a person who has signed out here to the sign-out at the provider. */
export const PROVIDER_SIGN_OUT_PATH = '/sign-in/oidc/sign-out';

interface SignInPageProps {
  readonly viewer: Viewer;
  readonly ways: SignInWays;
  /** The page that the sign-in leads to. */
  readonly next: string;
  /** A refused key; null without one. */
  readonly failure: FormFailure | null;
  /** Why the identity provider led to no session. */
  readonly problem?: SignInProblem | null;
  /** A form sent after the session ended. */
  readonly unsaved?: UnsavedForm | null;
}

/** The sign-in page, with each way to sign in. */
export function signInPage(props: SignInPageProps & { readonly httpStatus: number }): PageResult {
  const { viewer, ways, next, failure, problem = null, unsaved = null, httpStatus } = props;
  const messages = viewer.messages.signIn;
  const isWaiting = unsaved !== null && waitingForm(unsaved, ways) !== null;
  return page(
    messages.title,
    // The entries of the ended session are removed (kept-entries.js).
    <div class="narrow" data-sign-in>
      <h1>{messages.title}</h1>
      {unsaved !== null && <Unsaved viewer={viewer} unsaved={unsaved} ways={ways} />}
      {problem !== null && <ProviderProblem viewer={viewer} ways={ways} problem={problem} />}
      <Problem viewer={viewer} failure={failure} form="sign-in" />
      {ways.provider !== null && (
        <div class="form">
          <a
            class="button main"
            href={`${PROVIDER_PATH}?next=${encodeURIComponent(next)}`}
            {...(isWaiting ? { target: '_blank' } : {})}
          >
            {messages.provider.submit}
          </a>
        </div>
      )}
      {ways.provider !== null && ways.keys && <h2>{messages.provider.orKey}</h2>}
      {ways.keys && <KeyForm {...props} isMain={ways.provider === null} />}
    </div>,
    { httpStatus, isShownOnce: unsaved !== null && unsaved.form !== null },
  );
}

function ProviderProblem({
  viewer,
  ways,
  problem,
}: Pick<SignInPageProps, 'viewer' | 'ways'> & { problem: SignInProblem }) {
  const { problems } = viewer.messages.signIn.provider;
  const texts: Readonly<Record<SignInProblem, string>> = {
    no_role: problems.noRole({ claim: ways.provider?.roleClaim ?? '' }),
    not_begun: problems.notBegun,
    refused: problems.refused,
    rate_limited: problems.rateLimited,
    unavailable: ways.keys ? problems.unavailableWithKeys : problems.unavailable,
  };
  return (
    <div class="problem" role="alert" tabindex={-1} data-focus>
      <h2>{problems.title}</h2>
      <p>{texts[problem]}</p>
    </div>
  );
}

function KeyForm(props: SignInPageProps & { readonly isMain: boolean }) {
  const { viewer, next, failure, unsaved = null, isMain } = props;
  const messages = viewer.messages.signIn;
  return (
    <>
      <p class="muted">{messages.intro}</p>
      <PostForm viewer={viewer} action="/sign-in">
        <input type="hidden" name="next" value={next} />
        {unsaved !== null && <UnsavedFields unsaved={unsaved} />}
        <Field
          viewer={viewer}
          form="sign-in"
          name="key"
          type="password"
          label={messages.key}
          autocomplete="current-password"
          failure={failure}
          isRequired
          isLatin
        />
        <button {...(isMain ? { class: 'main' } : {})} type="submit">
          {messages.title}
        </button>
      </PostForm>
    </>
  );
}
