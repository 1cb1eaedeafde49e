import type { AuditView } from '../../../contracts/audit';
import { AUDIT_ACTIONS } from '../../../domain/audit';
import type { Json } from '../../../domain/vocabulary';
import { Ref } from '../../parts/text';
import { oneOf, type Viewer } from '../../viewer';

/** What an entry of the audit says, in words. */

/** What somebody did; an act of another version by its name. */
export function actionText({ words }: Viewer, action: string) {
  const known = oneOf(AUDIT_ACTIONS, action);
  return known === null ? <Ref>{action}</Ref> : words.audit.actions[known];
}

const SUBJECTS = [
  'towing_reference_id',
  'violation_id',
  'report_id',
  'delivery_id',
  'task_id',
  'hold_id',
  'photo_id',
  'queue',
  'operation',
  'key_id',
] as const;

/** Pages of what is named, where there is one. */
const PAGES: Readonly<Record<string, string>> = {
  towing_reference_id: '/tows/',
  violation_id: '/violations/',
  delivery_id: '/ops/deliveries/',
};

/** What it was done to. */
export function Subject({ viewer, on }: { viewer: Viewer; on: AuditView['on'] }) {
  const words = viewer.words.audit.on;
  const named = SUBJECTS.flatMap((name) => {
    const id = on[name];
    return id === undefined ? [] : [{ name, id }];
  });
  return (
    <ul class="subjects">
      {named.map(({ name, id }) => (
        <li>
          {words[name]}{' '}
          {PAGES[name] === undefined ? (
            <Ref>{id}</Ref>
          ) : (
            <a href={`${PAGES[name]}${encodeURIComponent(id)}`}>
              <Ref>{id}</Ref>
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

/** The small facts of an act. */
export function Details({ viewer, what }: { viewer: Viewer; what: AuditView['what'] }) {
  const { what: words } = viewer.words.audit;
  const facts = Object.entries(what).filter(([, value]) => value !== null);
  if (facts.length === 0) return null;
  const known = new Map<string, string>(Object.entries(words));
  return (
    <p class="muted">
      {facts.map(([name, value], at) => (
        <>
          {at > 0 && ' · '}
          {known.get(name) ?? <Ref>{name}</Ref>}: <bdi>{detailText(viewer, name, value)}</bdi>
        </>
      ))}
    </p>
  );
}

function detailText({ formats, words }: Viewer, name: string, value: Json | undefined): string {
  if (Array.isArray(value)) return value.map((each) => textOf(each)).join(', ');
  const text = textOf(value);
  switch (name) {
    case 'occurred_at':
      return formats.moment(text);
    case 'granted_role':
      return new Map<string, string>(Object.entries(words.terms.roles)).get(text) ?? text;
    default:
      return text;
  }
}

function textOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
