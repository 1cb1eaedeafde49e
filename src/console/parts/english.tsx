import type { Viewer } from '../viewer';

/** The rule in the reader's language where it is known, else in English, marked as such. */
export function ruleIn(viewer: Viewer, rule: string) {
  return viewer.words.refusals.ruleOf(rule) ?? <English viewer={viewer}>{rule}</English>;
}

/** English words within a page of any language. */
export function English({ viewer, children }: { viewer: Viewer; children: string }) {
  if (viewer.language === 'en') return <>{children}</>;
  return (
    <bdi lang="en" dir="ltr">
      {children}
    </bdi>
  );
}
