import { expect, test } from 'vitest';
import { waitUntil } from '../support/waiting.ts';
import type { OfficeStage } from './office-stage.ts';
import { openList, press, readToEnd, spoken, waitForApproval, watchPosted } from './page-steps.ts';

/** Scenes of people who do something else than answer, or something after it. */
export function playActions(stage: () => OfficeStage): void {
  test('an approval of two is taken back, after which it does not count, and is given again', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', quorum: 2 });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await page.keyboard.press('a');
    await spoken(page, '1 of 2 approvals: Send a mail to x?').waitFor();
    await openList(page, /^All open/);
    await page.locator('#answer-why', { hasText: 'You have approved this.' }).waitFor();
    await press(page, 'Withdraw my approval');
    await spoken(page, 'Recorded: Send a mail to x?').waitFor();
    await office.answerElsewhere('bo', true, ['x']);
    expect(await office.readLog()).toEqual(new Map());

    await readToEnd(page);
    await page.locator('button.yes:not([aria-disabled="true"])').waitFor();
    await page.keyboard.press('a');
    await spoken(page, 'Approved by').waitFor();
    const voted = ['request-voted', 'vote-withdrawn', 'request-answered'];
    const events = (await office.readEvents('x')).filter(([type]) => voted.includes(type));
    expect(events).toEqual([
      ['request-voted', 'ada'],
      ['vote-withdrawn', 'ada'],
      ['request-voted', 'bo'],
      ['request-answered', 'ada'],
    ]);
  });

  test('a request is passed on by name, and is then answered by whoever got it', async () => {
    const office = await stage().openOffice();
    for (const to of ['x', 'y']) await office.ask({ to, topic: to, approvers: ['ada'] });
    const [page, bo] = [await stage().open(office), await stage().open(office, { person: 'bo' })];
    const posted = watchPosted(page);
    await bo.getByText('Nothing waits for').first().waitFor();
    await page.keyboard.press('j');
    await waitForApproval(page, 'to x?');
    await press(page, 'Let somebody else answer …');
    await page.locator('input.step:focus').waitFor();
    await press(page, 'Pass it on');
    await spoken(page, 'Say who is to answer instead.').waitFor();
    await page.getByLabel('Who is to answer instead').focus();
    await page.keyboard.type('bo');
    await page.keyboard.press('Enter');
    expect(posted).toEqual([]);
    await press(page, 'Pass it on');
    await page.locator('#request-title:focus', { hasText: 'to y?' }).waitFor();

    await bo.getByRole('row').filter({ hasText: 'to x?' }).click();
    await bo.getByText('ada asked bo to answer instead').waitFor();
    await readToEnd(bo);
    await waitForApproval(bo, 'to x?');
    await bo.keyboard.press('a');
    await spoken(bo, 'Approved by bo: Send a mail to x?').waitFor();
    const log = await office.readLog();
    expect([...log]).toMatchObject([['x', { status: 'approved', by: 'bo' }]]);
  });

  test.each([
    [
      'with a result',
      'It happened; this was its result:',
      'The result',
      '{"id": 7}',
      { status: 'succeeded', outcome: { output: { id: 7 } } },
    ],
    [
      'with a text',
      'It happened; this was its result:',
      'The result',
      'It went out.',
      { status: 'succeeded', outcome: { output: 'It went out.' } },
    ],
    [
      'as failed',
      'It did not happen; this is why:',
      'Why',
      'The office was closed.',
      { status: 'failed', outcome: { error: 'The office was closed.' } },
    ],
    [
      'to run again',
      'It did not happen: run it again',
      undefined,
      '',
      { status: 'succeeded', outcome: { output: 'Sent.' } },
    ],
  ])('a lost call is settled %s, and goes on so', async (_how, what, field, text, call) => {
    const office = await stage().openOffice();
    await office.loseCall({ to: 'x' });
    const page = await stage().open(office);
    await openList(page, /^Unsettled 1/);
    await page.locator('#request-title', { hasText: 'Did send_mail happen?' }).waitFor();
    await press(page, 'Settle …');
    await page.locator('legend:focus').waitFor();
    await page.getByLabel(what).press('Space');
    if (field !== undefined) await page.getByRole('textbox', { name: field }).focus();
    await page.keyboard.type(text);
    await press(page, 'Settle');
    await spoken(page, 'Settled by ada: Did send_mail happen?').waitFor();
    await office.goOn('x');
    expect(await office.readCall('x')).toMatchObject({ thread: 'idle', call });
    expect(await office.readSent()).toEqual(field === undefined ? ['x'] : []);
  });

  test('a stuck thread is tried again: in vain while the provider is down, and then it goes on', async () => {
    const office = await stage().openOffice();
    await office.getStuck('x');
    const page = await stage().open(office);
    await openList(page, /^Unsettled 1/);
    await page.locator('#request-title', { hasText: 'office is stuck' }).waitFor();
    await page.getByText('The provider is down.').first().waitFor();
    await press(page, 'Try again');
    await waitUntil(async () => {
      const events = await office.readEvents('x');
      return events.filter(([type]) => type === 'run-ended').length === 2;
    });
    expect((await office.readCall('x')).thread).toBe('stuck');
    await office.repair();
    await openList(page, /^Unsettled 1/);
    await page.getByText('2 runs in a row have failed').first().waitFor();
    await press(page, 'Try again');
    await waitUntil(async () => (await office.readCall('x')).thread === 'idle');
    await page.getByRole('button', { name: 'Unsettled 0' }).waitFor();
  });

  test('an approval that also approves later calls says so beside it, and is taken back like any other', async () => {
    const office = await stage().openOffice();
    await office.ask({ to: 'x', mayBeRemembered: true });
    const page = await stage().open(office);
    await page.keyboard.press('j');
    await page.locator('#request-title', { hasText: 'to x?' }).waitFor();
    await readToEnd(page);
    await waitForApproval(page, 'to x?');
    expect(await office.readGrants()).toEqual([]);
    await page.getByRole('checkbox', { name: 'Also decide later calls' }).check();
    await press(page, 'Approve');
    await spoken(page, 'Approved').waitFor();
    expect(await office.readGrants()).toMatchObject([
      { toolName: 'send_mail', principal: 'ada', scope: 'everyone', match: { type: 'any' } },
    ]);

    await office.ask({ to: 'unasked', requester: 'zoe', body: 'Bye', mayBeRemembered: true });
    expect(await office.readSent()).toEqual(['unasked']);
    await office.revokeGrants('ada');
    await office.ask({ to: 'asked again', mayBeRemembered: true });
    expect(await office.readSent()).toEqual(['unasked']);
    await page.getByRole('button', { name: 'For me 1' }).waitFor();
  });
}
