import type { Actor } from '../../../domain/audit';
import { ROUTES } from '../../../contracts/operator-routes';
import { ALARM_KINDS, MAIL_ADDRESS_RULE, NOTICE_CHANNELS } from '../../../domain/notification-settings';
import { digestOf } from '../../parts/live-form';
import { numberIn, requiredIfEmpty } from '../../forms';
import { page, type FormFailure, type PageResult, type Pages, type PageTools, type PageVisit } from '../../page';
import { PAGES } from '../../page-table';
import { CHANGED_MEANWHILE, readRoute, submit } from '../../submit';
import { oneOf } from '../../viewer';
import { NotificationsPage, type TestResult } from './view';

const PATH = PAGES.notifications.path;

/** The page of notifications: settings, the state of the channels, and a test of each. */
export function serveNotifications(pages: Pages, { api }: Pick<PageTools, 'api'>): void {
  const read = (actor: Actor) => readRoute(api, ROUTES.readNotifications, { actor });
  const show = async (
    { viewer, actor }: PageVisit,
    shown: { readonly failure: FormFailure | null; readonly tested?: TestResult },
  ): Promise<PageResult> => {
    const { failure, tested = null } = shown;
    const view = await read(actor);
    return page(
      viewer.messages.notifications.title,
      <NotificationsPage viewer={viewer} view={view} failure={failure} tested={tested} />,
      { httpStatus: failure?.refusal.httpStatus ?? 200 },
    );
  };

  pages.get(PATH, PAGES.notifications.role, (visit) => show(visit, { failure: null }));

  pages.post(PATH, 'ops', (posted) =>
    submit(api, posted, {
      route: ROUTES.changeNotifications,
      form: 'settings',
      body: settingsIn(posted.form),
      // The form sends every setting, so it would undo what another person saved meanwhile.
      question: async () => digestOf((await read(posted.actor)).settings),
      overtaken: CHANGED_MEANWHILE,
      next: PATH,
      done: 'saved',
      again: (failure) =>
        show(posted, { failure: requiredIfEmpty(withFieldNames(failure), ['escalate_after_minutes']) }),
    }),
  );

  pages.post(`${PATH}/reset`, 'ops', (posted) =>
    submit(api, posted, {
      route: ROUTES.resetNotifications,
      form: 'reset',
      body: {},
      next: PATH,
      done: 'saved',
      again: (failure) => show(posted, { failure }),
    }),
  );

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

/** The form has every setting, so an empty field removes one. Kinds without a mark are muted. */
function settingsIn(form: URLSearchParams): Readonly<Record<string, unknown>> {
  const text = (name: string) => form.get(name)?.trim() ?? '';
  const list = (name: string) => listIn(form.get(name));
  const announced = form.getAll('announced');
  return {
    language: text('language'),
    webhook_url: text('webhook_url') || null,
    mail_to: list('mail_to'),
    escalate_to: list('escalate_to'),
    escalate_after_minutes: numberIn(text('escalate_after_minutes')),
    muted_alarms: ALARM_KINDS.filter((kind) => !announced.includes(kind)),
    quiet_from: text('quiet_from') || null,
    quiet_to: text('quiet_to') || null,
    time_zone: text('time_zone'),
    quiet_severities: list('quiet_severities'),
  };
}

/**
 * The API refers to an address by its place in a list, the form has one field for all. An address that is none is named
 * in the rule instead.
 */
function withFieldNames(failure: FormFailure): FormFailure {
  const details = failure.refusal.details.map(({ field, rule }) => {
    const [name = field, index] = field.split('.');
    const address = index === undefined ? undefined : listIn(failure.entered.get(name))[Number(index)];
    const isNamed = address !== undefined && rule === MAIL_ADDRESS_RULE;
    return { field: name, rule: isNamed ? `“${address}” ${rule}` : rule };
  });
  const distinct = new Map(details.map((detail) => [JSON.stringify(detail), detail]));
  return { ...failure, refusal: { ...failure.refusal, details: [...distinct.values()] } };
}

function listIn(entered: string | null): string[] {
  return (entered ?? '').split(/[\s,;]+/).filter((item) => item !== '');
}
