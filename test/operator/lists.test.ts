import { useApp } from '../support/app';
import { fieldsOf, get, post, refsFound, towIn, towPath, towsPage } from './client';
import { answerHead, deliver, newTow, record, towAfter, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

function sorted(refs: readonly string[]): string[] {
  return refs.toSorted((a, b) => a.localeCompare(b));
}

describe('the list of tows', () => {
  it('is empty before the first tow request', async () => {
    expect(await towsPage(app)).toEqual({ items: [], next_cursor: null });
  });

  it('shows whole tows, the newest request first', async () => {
    const refs = [await newTow(app), await newTow(app), await newTow(app)];
    const { items, next_cursor } = await towsPage(app);
    expect(items.map(({ towing_reference_id }) => towing_reference_id)).toEqual(refs.toReversed());
    expect(next_cursor).toBeNull();
    const [newest] = items;
    expect(newest).toEqual(towIn(await get(app, towPath(refs[2] ?? '')), 200));
  });

  it('keeps a tow at its place when facts are recorded on it', async () => {
    const refs = [await newTow(app), await newTow(app), await newTow(app)];
    await record(app, refs[0] ?? '', 'started');
    expect(await refsFound(app)).toEqual(refs.toReversed());
  });
});

describe('by state', () => {
  it('shows exactly the tows that are in it now', async () => {
    const byState = {
      requested: await towAfter(app),
      started: await towAfter(app, 'started'),
      detained: await towAfter(app, 'started', 'detained'),
      released: await towAfter(app, 'started', 'released'),
      canceled: await towAfter(app, 'canceled'),
    };
    for (const [state, ref] of Object.entries(byState)) expect(await refsFound(app, { state })).toEqual([ref]);
    await record(app, byState.requested, 'started');
    expect(await refsFound(app, { state: 'requested' })).toEqual([]);
    expect(sorted(await refsFound(app, { state: 'started' }))).toEqual(sorted([byState.requested, byState.started]));
  });
});

describe('by words', () => {
  const found = async (q: string, more: Readonly<Record<string, string>> = {}) => refsFound(app, { q, ...more });

  it('finds by the beginning of either reference or of our own id, in any case', async () => {
    const ref = await newTow(app, {
      towing_reference_id: 'TW-20261120-QRS123',
      violation_reference_id: 'V-20261119-XYZ789',
      metadata: { id: 'Patrol 17/B' },
    });
    await newTow(app, {
      towing_reference_id: 'TW-20251120-QRS123',
      violation_reference_id: 'V-20251119-XYZ789',
      metadata: { id: 'night 18' },
    });
    for (const words of ['TW-20261120-QRS123', 'tw-2026', 'V-20261119-XYZ', 'v-2026', 'Patrol 17/B', ' PATROL']) {
      expect(await found(words)).toEqual([ref]);
    }
    for (const words of ['QRS123', 'TW-20261120-QRS1234', 'trol 17']) expect(await found(words)).toEqual([]);
    expect(await found('tw-')).toHaveLength(2);
  });

  it.each([
    ['ABJ 1234', ['ABJ 1234', 'abj1234', 'ا ب ح ١٢٣٤', 'أبح1234', 'ابح ۱۲۳۴', 'A-B-J', 'ا ب', 'abj12']],
    ['أ ب ح ١٢٣٤', ['ABJ 1234', 'abj1234', 'ا ب ح ١٢٣٤', 'ابح1234', 'A B', 'اب']],
    ['ط ي م ۷', ['TVZ7', 'ط ى م ٧', 'tv', 'طي']],
  ])('finds the plate %s in both scripts: %j', async (plate_number, searches) => {
    const ref = await newTow(app);
    towIn(await post(app, towPath(ref, '/started'), { ...WHEREABOUTS, plate_number }));
    const other = await newTow(app);
    towIn(await post(app, towPath(other, '/started'), { ...WHEREABOUTS, plate_number: 'KKK 9' }));
    for (const words of searches) expect([words, await found(words)]).toEqual([words, [ref]]);
  });

  it('finds by the beginning of an invoice number', async () => {
    const ref = await towAfter(app, 'started');
    const tow = towIn(await get(app, towPath(ref)), 200);
    await deliver(app, 'tow_invoice', {
      violation_reference_id: tow.violation_reference_id,
      towing_reference_id: ref,
      towing_invoice: { invoice_number: 'INV-2026-77' },
      delay_invoice: { invoice_number: 'DLY-2026-78' },
    });
    await newTow(app);
    for (const words of ['inv-2026-77', 'INV-2026', 'dly-']) expect(await found(words)).toEqual([ref]);
  });

  it('finds nothing by words that are only special to a database', async () => {
    await newTow(app);
    for (const words of ['*', '[', '(', '\u0000', '\u{10ffff}', '+inf', 'plate:'])
      expect(await found(words)).toEqual([]);
  });

  it('shows all tows when no word was typed', async () => {
    const refs = [await newTow(app), await newTow(app)];
    expect(await found('  ')).toEqual(refs.toReversed());
  });

  it('may be narrowed by state', async () => {
    const waiting = await newTow(app, { towing_reference_id: 'TW-A1' });
    const started = await newTow(app, { towing_reference_id: 'TW-A2' });
    await record(app, started, 'started');
    expect(await found('tw-a', { state: 'started' })).toEqual([started]);
    expect(await found('tw-a', { state: 'requested' })).toEqual([waiting]);
  });
});

describe('by attention', () => {
  it('shows exactly the tows with an open task, and each only as long as it has one', async () => {
    await towAfter(app, 'started');
    const refused = await towAfter(app, 'started');
    const reportId = await answerHead(app, refused, 'refused');
    const rival = await newTow(app);
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: rival });
    expect(sorted(await refsFound(app, { attention: 'true' }))).toEqual(sorted([refused, rival]));
    expect(await refsFound(app, { attention: 'true', state: 'started' })).toEqual([refused]);
    expect(await refsFound(app, { attention: 'true', q: rival })).toEqual([rival]);

    towIn(await post(app, towPath(refused, `/reports/${reportId}/waive`), { reason: 'told by phone' }));
    expect(await refsFound(app, { attention: 'true' })).toEqual([rival]);
    expect((await post(app, `/api/tasks/rival_request.${rival}/resolve`)).status).toBe(202);
    expect(await refsFound(app, { attention: 'true' })).toEqual([]);
  });

  it('shows all tows when it is not asked for', async () => {
    const refs = [await newTow(app), await newTow(app)];
    expect(await refsFound(app, { attention: 'false' })).toEqual(refs.toReversed());
  });
});

describe('by what it owes, by its crew, by age', () => {
  const assign = (ref: string, crew: string | null) => post(app, towPath(ref, '/assignment'), { crew });

  it('shows what is unsent, and no longer once the service has accepted it', async () => {
    const [idle, owing] = [await newTow(app), await towAfter(app, 'started')];
    expect(await refsFound(app, { unsent: 'true' })).toEqual([owing]);
    expect(await refsFound(app, { unsent: 'false' })).toEqual([owing, idle]);
    await answerHead(app, owing, 'accepted');
    expect(await refsFound(app, { unsent: 'true' })).toEqual([]);
  });

  it('shows the tows of a crew, and those of nobody', async () => {
    const [free, taken] = [await newTow(app), await newTow(app)];
    await assign(taken, 'Crew 4');
    expect(await refsFound(app, { crew: 'Crew 4' })).toEqual([taken]);
    expect(await refsFound(app, { crew: '' })).toEqual([free]);
    expect(await refsFound(app, { crew: 'Crew' })).toEqual([]);
    await assign(taken, null);
    expect(await refsFound(app, { crew: '' })).toEqual([taken, free]);
  });

  it('shows what is overdue by the configured times', async () => {
    const young = await newTow(app);
    const old = await towAfter(app, 'started');
    await app.redis.ask('HSET', `{p0}:tow-reports:${old}`, '1:created_at', String(Date.now() - 16 * 60_000));
    await answerHead(app, old, 'refused');
    expect(await refsFound(app, { overdue: 'true' })).toEqual([old]);
    expect(await refsFound(app, { overdue: 'true', state: 'requested' })).toEqual([]);
    expect(await refsFound(app, { overdue: 'false' })).toEqual([old, young]);
  });

  it('shows the oldest request first when asked to, page by page', async () => {
    const refs = [await newTow(app), await newTow(app), await newTow(app)];
    expect(await refsFound(app, { order: 'oldest', limit: '1' })).toEqual(refs);
    expect(await refsFound(app, { order: 'newest', limit: '2' })).toEqual(refs.toReversed());
  });

  it.each([
    ['order', 'sideways'],
    ['unsent', 'yes'],
    ['overdue', '1'],
    ['crew', 'x'.repeat(101)],
  ])('refuses %s=%s and names it', async (name, value) => {
    const answer = await get(app, `/api/tows?${new URLSearchParams({ [name]: value }).toString()}`);
    expect([answer.status, fieldsOf(answer)]).toEqual([422, [name]]);
  });
});
