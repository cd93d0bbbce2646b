import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import type { OfficeStage } from './office-stage.ts';

/** The value of an argument or a fact, as it is read. */
async function readRow(page: Page, name: string): Promise<string> {
  const row = page.locator('.row', { has: page.locator(`dt:text-is("${name}")`) });
  return (await row.locator('dd').first().innerText()).replaceAll(/\s+/g, ' ').trim();
}

/* New York changes its clocks between the question and its deadline. At both of the two times, a clock in Berlin shows 02:30. */
const now = Date.UTC(2027, 2, 12, 18);
const asked = {
  to: 'x',
  expiresAfterMs: 68 * 3_600_000,
  transfer: {
    amount: 123_456_789,
    starts: '2027-10-31T02:30:00+02:00',
    ends: '2027-10-31T02:30:00+01:00',
    day: '2027-03-28',
    lasts: 'P1DT2H',
    waits: 5400,
  },
};
const given = {
  starts: 'Sun, October 31, 2027 at 02:30 AM +02:00',
  ends: 'Sun, October 31, 2027 at 02:30 AM +01:00',
};

/** Scenes of people in other places, to whom the same is written otherwise. */
export function playReaders(stage: () => OfficeStage): void {
  test.each([
    {
      locale: 'de-DE',
      timezoneId: 'Europe/Berlin',
      amount: '1.234.567,89 EUR',
      starts: 'So., 31. Oktober 2027 um 02:30 MESZ in 232 Tagen',
      ends: 'So., 31. Oktober 2027 um 02:30 MEZ in 232 Tagen',
      day: 'Sonntag, 28. März 2027',
      lasts: '1 Tag, 2 Stunden',
      waits: '1 Stunde, 30 Minuten',
      since: 'Fr., 12. März 2027 um 19:00 MEZ',
      until: 'Mo., 15. März 2027 um 15:00 MEZ in 2 Tagen, then it is denied',
    },
    {
      locale: 'en-US',
      timezoneId: 'America/New_York',
      amount: 'EUR 1,234,567.89',
      starts: `Sat, October 30, 2027 at 08:30 PM EDT in 232 days ${given.starts}`,
      ends: `Sat, October 30, 2027 at 09:30 PM EDT in 232 days ${given.ends}`,
      day: 'Sunday, March 28, 2027',
      lasts: '1 day, 2 hours',
      waits: '1 hour, 30 minutes',
      since: 'Fri, March 12, 2027 at 01:00 PM EST',
      until: 'Mon, March 15, 2027 at 10:00 AM EDT in 2 days, then it is denied',
    },
    {
      locale: 'en-IN',
      timezoneId: 'Asia/Kolkata',
      amount: 'EUR 12,34,567.89',
      starts:
        'Sun, 31 October 2027 at 06:00 am IST in 232 days Sun, 31 October 2027 at 02:30 am +02:00',
      ends: 'Sun, 31 October 2027 at 07:00 am IST in 232 days Sun, 31 October 2027 at 02:30 am +01:00',
      day: 'Sunday, 28 March 2027',
      lasts: '1 day, 2 hours',
      waits: '1 hour, 30 minutes',
      since: 'Fri, 12 March 2027 at 11:30 pm IST',
      until: 'Mon, 15 March 2027 at 07:30 pm IST in 2 days, then it is denied',
    },
    {
      locale: 'hi-IN',
      timezoneId: 'Asia/Kolkata',
      amount: 'EUR 12,34,567.89',
      starts:
        'रवि, 31 अक्टूबर 2027 को 06:00 am IST बजे 232 दिन में रवि, 31 अक्टूबर 2027 को 02:30 am बजे +02:00',
      ends: 'रवि, 31 अक्टूबर 2027 को 07:00 am IST बजे 232 दिन में रवि, 31 अक्टूबर 2027 को 02:30 am बजे +01:00',
      day: 'रविवार, 28 मार्च 2027',
      lasts: '1 दिन और 2 घंटे',
      waits: '1 घंटा और 30 मिनट',
      since: 'शुक्र, 12 मार्च 2027 को 11:30 pm IST',
      until: 'सोम, 15 मार्च 2027 को 07:30 pm IST बजे 2 दिन में, then it is denied',
    },
  ])(
    'in $timezoneId a request is read in $locale, with the exact values beside',
    async (reader) => {
      const { locale, timezoneId, since, until, ...values } = reader;
      const office = await stage().openOffice({ now });
      await office.ask(asked);
      const page = await stage().open(office, { locale, timezoneId });
      await page.getByRole('row').first().press('Enter');
      await page.locator('#request-title', { hasText: 'Transfer it to x?' }).waitFor();
      for (const [name, value] of Object.entries(values)) {
        const exact = JSON.stringify(Reflect.get(asked.transfer, name));
        expect(await readRow(page, name)).toBe(`${value} exactly ${exact}`);
      }
      expect(await readRow(page, 'Since')).toContain(since);
      expect(await readRow(page, 'Until')).toBe(until);
      const times = "[...document.querySelectorAll('.facts time')].map((time) => time.dateTime)";
      expect(await page.evaluate(times)).toEqual([
        '2027-03-12T18:00:00.000Z',
        '2027-03-15T14:00:00.000Z',
      ]);
    },
  );
}
