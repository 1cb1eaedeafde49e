import { expectAccessible, useBrowser, waitForText } from '../support/browser';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { useConsole } from './world';

const browser = useBrowser({ fastTimers: true });
const town = useConsole();

const DRIFT = (operation: string) => ({ operation, fault: 'broken_answer', times: 1 });

async function reportViolation(): Promise<string> {
  const form = new FormData();
  const fields = {
    plateNumber: 'ABJ 1235',
    plateType: 'PRIVATE',
    zoneId: '11111111-2222-4333-8444-555555555555',
    violationType: 'WRONG_PARKING',
    location: 'Olaya Street',
    latitude: '24.7',
    longitude: '46.7',
  };
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  form.append('images', new Blob([new Uint8Array(PNG)], { type: 'image/png' }), 'front.png');
  const headers = { authorization: `Bearer ${await town.keyOf('dispatcher')}` };
  const response = await fetch(town.at('/api/violations'), { method: 'POST', headers, body: form });
  return /"id":"([^"]+)"/.exec(await response.text())?.[1] ?? '';
}

test.each([
  ['en', 'Decide about this report', 'Send again'],
  ['ar', 'القرار في هذا التقرير', 'إعادة الإرسال'],
] as const)('a dispatcher sends a report with a broken answer again (%s)', async (language, decide, label) => {
  const ref = await town.orderTow();
  await town.setFaults([DRIFT('started')]);
  await town.record(ref, 'started');
  await eventually(async () => expect(await town.tasks()).toMatchObject([{ type: 'answer_differs' }]));

  const page = await browser.open({ language });
  await town.signIn(page, 'dispatcher', `/tows/${ref}`);
  const report = page.locator('[id^=report-started]').first();
  for (const summary of [decide, label]) await report.locator('summary', { hasText: summary }).first().click();
  await expectAccessible(page);
  await report.getByRole('button', { name: label, exact: true }).click();

  await eventually(async () => expect(await town.callsOf('started')).toHaveLength(2));
  await eventually(async () =>
    expect((await town.tow(ref)).reports[0]).toMatchObject({ state: 'accepted', difference_id: null }),
  );
  const [first, second] = await town.callsOf('started');
  expect(second?.body).toEqual(first?.body);
});

test('a dispatcher sees the images of a violation with a broken answer, and sends it again with them', async () => {
  await town.setFaults([DRIFT('violation')]);
  const id = await reportViolation();
  await eventually(async () => expect(await town.tasks()).toMatchObject([{ type: 'answer_differs' }]));

  const page = await browser.open();
  await town.signIn(page, 'dispatcher', `/violations/${id}`);
  await waitForText(page.locator('#images'), 'front.png');
  expect(await page.locator('#images img').count()).toBe(1);
  const decide = page.locator('#decide');
  await decide.locator('summary').filter({ hasText: 'Send again' }).click();
  await expectAccessible(page);
  await decide.getByRole('button', { name: 'Send again', exact: true }).click();

  await eventually(async () => expect(await town.callsOf('violation')).toHaveLength(2));
  const [first, second] = await town.callsOf('violation');
  expect(second?.body).toEqual(first?.body);
  await eventually(async () => {
    await page.reload();
    expect(await page.locator('#images img').count()).toBe(0);
  });
});
