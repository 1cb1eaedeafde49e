import { LANGUAGES, messagesIn } from '../../src/console/messages';
import { AUDIT_ACTIONS, auditOf, type AuditAction, type AuditSubject } from '../../src/domain/ops/audit';
import { createAuditStore } from '../../src/store/ops/audit';
import { useApp } from '../support/app';
import { api, newKey } from '../operator/client';
import { signedIn, textOf } from './visitor';

const app = useApp({ role: 'console' });
const ACTOR = { id: 'key-1', name: 'Sara', role: 'ops' } as const;

/** Appends an audit entry. */
async function acted(action: AuditAction, on: Parameters<typeof auditOf>[2]['on'], why: string | null = null) {
  await createAuditStore(app.foundation.redis).append({
    audit: auditOf(ACTOR, action, { on, why }),
    idempotency: undefined,
  });
}

test.each(LANGUAGES)(
  'describes every audit action by its own text on the audit page in language %s',
  async (language) => {
    for (const action of AUDIT_ACTIONS) await acted(action, {});
    const visitor = await signedIn(app);
    visitor.cookies.set('towhook_language', language);
    const text = textOf((await visitor.get('/ops/audit')).html);
    const { actions } = messagesIn(language).audit;
    const texts = AUDIT_ACTIONS.map((action) => actions[action]);
    expect(new Set(texts).size).toBe(AUDIT_ACTIONS.length);
    for (const [at, description] of texts.entries()) {
      expect(text).toContain(description);
      expect(text).not.toContain(AUDIT_ACTIONS[at]);
    }
  },
);

test('shows actor, action, a link to the tow and the reason in an audit entry', async () => {
  await acted('tow.canceled', { towing_reference_id: 'TW-7' }, 'gone <on> arrival');
  const { html } = await (await signedIn(app)).get('/ops/audit');
  expect(html).toContain('href="/tows/TW-7"');
  expect(textOf(html)).toContain('Sara (ops) canceled the tow tow TW-7 gone <on> arrival');
});

const SUBJECTS: Required<AuditSubject> = {
  towing_reference_id: 'TW-7',
  report_id: 'started-1',
  violation_id: 'patrol 7',
  hold_id: 'hold-7',
  photo_id: 'photo-7',
  queue: 'reports',
  task_id: 'task-7',
  delivery_id: 'delivery-7',
  difference_id: 'started.answer:7',
  key_id: 'key-7',
  subscription_id: 'subscription-7',
  operation: 'started',
};

test.each(LANGUAGES)('names every subject of an audit entry in language %s', async (language) => {
  await acted('difference.expected', SUBJECTS);
  const visitor = await signedIn(app);
  visitor.cookies.set('towhook_language', language);
  const { html } = await visitor.get('/ops/audit');
  const labels = new Map(Object.entries(messagesIn(language).audit.on));
  for (const [name, id] of Object.entries(SUBJECTS)) expect(textOf(html)).toContain(`${labels.get(name)} ${id}`);
});

test('links the subjects of an audit entry that have a page', async () => {
  await acted('difference.expected', SUBJECTS);
  const { html } = await (await signedIn(app)).get('/ops/audit');
  const [subjects = ''] = /<ul class="subjects">[^]*?<\/ul>/.exec(html) ?? [];
  expect([...subjects.matchAll(/href="([^"]+)"/g)].map(([, path]) => path)).toEqual([
    '/tows/TW-7',
    '/violations/patrol%207',
    '/ops/deliveries/delivery-7',
    '/ops/service/started.answer%3A7',
  ]);
});

test('lists audit entries newest first and filters them by tow', async () => {
  for (const ref of ['TW-1', 'TW-2', 'TW-1']) await acted('tow.started', { towing_reference_id: ref });
  const visitor = await signedIn(app);
  const entriesIn = (html: string) => [...html.matchAll(/id="entry-(\d+)"/g)].map(([, seq]) => Number(seq));
  const all = entriesIn((await visitor.get('/ops/audit')).html);
  expect(all).toEqual(all.toSorted((a, b) => b - a));
  const { html } = await visitor.get('/ops/audit?tow=TW-1');
  expect(entriesIn(html)).toEqual([all[0], all[2]]);
  expect(html).toContain('value="TW-1"');
});

test('filters audit entries by a reference of any case, and names the next page only if there is one', async () => {
  await acted('tow.started', { towing_reference_id: 'TW-1' });
  const visitor = await signedIn(app);
  expect((await visitor.get('/ops/audit?tow=tw-1')).html).toContain('href="/tows/TW-1"');
  const { noneOfTow, noneOfTowHint, noneOfTowHintLast } = messagesIn('en').audit;
  const text = textOf((await visitor.get('/ops/audit?tow=TW-2')).html);
  expect([noneOfTow, noneOfTowHint, noneOfTowHintLast].map((each) => text.includes(each))).toEqual([true, false, true]);
});

test('keeps the tow filter on the next page of the audit and redirects a broken cursor to the first page', async () => {
  for (let at = 0; at < 52; at += 1) await acted('tow.note_added', { towing_reference_id: 'TW-1' });
  const visitor = await signedIn(app);
  const { html } = await visitor.get('/ops/audit?tow=TW-1');
  const next = (/href="(\/ops\/audit\?tow=TW-1&amp;cursor=[^"]+)"/.exec(html)?.[1] ?? '').replaceAll('&amp;', '&');
  const second = await visitor.get(next);
  expect([...second.html.matchAll(/id="entry-/g)]).toHaveLength(2);
  expect((await visitor.get('/ops/audit?cursor=nonsense')).location).toBe('/ops/audit');
});

test('lists the creation of an API key with its role on the audit page and names the command that verifies the audit', async () => {
  await newKey(app, 'crew', 'Crew 9');
  const text = textOf((await (await signedIn(app)).get('/ops/audit')).html);
  expect(text).toContain('created an API key role: crew');
  expect(text).toContain('towhook audit verify');
});

test('shows an audit action unknown to this version by its name', async () => {
  await api(app).post('/api/keys').send({ name: 'Before', role: 'viewer' });
  const store = createAuditStore(app.foundation.redis);
  const known = auditOf(ACTOR, 'task.resolved', { on: { task_id: 'task-1' } });
  await store.append({ audit: Object.assign({ ...known }, { action: 'tow.teleported' }), idempotency: undefined });
  expect(textOf((await (await signedIn(app)).get('/ops/audit')).html)).toContain('tow.teleported');
});
