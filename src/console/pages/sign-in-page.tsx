import { page, type Failure, type Shown } from '../answers';
import { Entered } from '../parts/entered';
import { Field, PostForm } from '../parts/form';
import { Problem } from '../parts/problem';
import type { Viewer } from '../viewer';

/** The page that signs in. `entered`: of a form that was sent after the session had ended, to be copied from here. */
export function signInPage(
  viewer: Viewer,
  shown: { next: string; failure: Failure | null; httpStatus: number; entered?: URLSearchParams | null },
): Shown {
  const words = viewer.words.signIn;
  const { next, failure, httpStatus, entered = null } = shown;
  return page(
    words.title,
    <div class="narrow">
      <h1>{words.title}</h1>
      <p class="muted">{words.intro}</p>
      {entered !== null && (
        <div class="problem" role="alert">
          <h2>{viewer.words.common.problem}</h2>
          <p>{viewer.words.common.sessionOver}</p>
          <Entered viewer={viewer} entered={entered} isOpen />
        </div>
      )}
      <Problem viewer={viewer} failure={failure} form="sign-in" />
      <PostForm viewer={viewer} action="/sign-in">
        <input type="hidden" name="next" value={next} />
        <Field
          viewer={viewer}
          form="sign-in"
          name="key"
          type="password"
          label={words.key}
          autocomplete="current-password"
          failure={failure}
          isRequired
          isLatin
        />
        <button class="main" type="submit">
          {words.submit}
        </button>
      </PostForm>
    </div>,
    { httpStatus },
  );
}
