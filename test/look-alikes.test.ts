import { lookAlikeWarnings } from 'holdpoint';
import { expect, test } from 'vitest';

const mixed = 'r\u0430ypal';

test.each([
  ['Latin and Cyrillic', 'p\u0430ypal', '"p\u0430ypal" mixes Latin and Cyrillic letters'],
  ['Latin and Greek', 'g\u03BFogle', '"g\u03BFogle" mixes Latin and Greek letters'],
  ['Cyrillic and Armenian', '\u0441\u0585', '"\u0441\u0585" mixes Cyrillic and Armenian letters'],
  [
    'Latin, Cyrillic and Greek',
    'p\u0430yp\u03B1l',
    '"p\u0430yp\u03B1l" mixes Latin, Cyrillic and Greek letters',
  ],
])('a word of %s letters is named', (_what, text, warning) => {
  expect(lookAlikeWarnings(text)).toEqual([warning]);
});

test.each([
  ['English', 'Pay 20 EUR to info@example.com, see https://example.com/a?b'],
  ['German', 'Überweise es an Jörg Müller'],
  ['Russian beside English', 'Оплатить счёт в PayPal, файл отчёт.pdf'],
  ['Greek beside English', 'Πληρωμή με Visa'],
  ['Japanese with Latin letters', 'iPhoneを東京で買うカード'],
  ['Chinese with Latin letters', '用PayPal付款'],
  ['Korean with Latin letters', 'PayPal로 결제'],
  ['Thai with Latin letters', 'ใช้PayPalจ่าย'],
  ['an accent that is a character of its own', 'cafe\u0301'],
  ['the name of a file', '/home/jörg/résumé.pdf'],
  ['nothing', undefined],
  ['a number', 12],
])('nothing is said of %s', (_what, value) => {
  expect(lookAlikeWarnings({ value })).toEqual([]);
});

test.each([
  ['of one script', 'https://\u0430\u0440\u0440\u04CF\u0435.com/login', 'xn--80ak6aa92e.com'],
  ['in an email address', 'jörg@münchen.de', 'xn--mnchen-3ya.de'],
  ['behind a password', 'https://user:word@münchen.de', 'xn--mnchen-3ya.de'],
  ['behind backslashes', 'https:\\\\münchen.de', 'xn--mnchen-3ya.de'],
  ['without slashes', 'https:münchen.de', 'xn--mnchen-3ya.de'],
  ['in wide letters', 'https://\uFF50aypal.com', 'paypal.com'],
  ['in digits in circles', 'http://\u2460\u2461\u2466.\u24EA.\u24EA.\u2460/', '127.0.0.1'],
])('a host %s is spelled as the network does', (_what, url, host) => {
  expect(lookAlikeWarnings(url)).toEqual([expect.stringMatching(`is the host ${host}$`)]);
});

test('they are found in every text of a value, and in the names of its fields, once each', () => {
  const value = { [mixed]: [{ to: mixed }], other: [[['\u0435nd']]] };
  expect(lookAlikeWarnings(value)).toEqual([
    `"${mixed}" mixes Latin and Cyrillic letters`,
    '"\u0435nd" mixes Latin and Cyrillic letters',
  ]);
});

test('of many, five are shown, and of a long word its beginning', () => {
  const words = Array.from({ length: 8 }, (_, index) => `${mixed}${index}`);
  const warnings = lookAlikeWarnings(words);
  expect(warnings).toHaveLength(6);
  expect(warnings.at(-1)).toBe('3 more words or hosts like these');
  expect(lookAlikeWarnings('a'.repeat(1e6) + mixed)).toEqual([
    `"${'a'.repeat(60)}…" mixes Latin and Cyrillic letters`,
  ]);
});

test('a value that is nested thousands deep is searched too', () => {
  let value: unknown = mixed;
  for (let depth = 0; depth < 20_000; depth += 1) value = [value];
  expect(lookAlikeWarnings(value)).toHaveLength(1);
});

test('a host that can’t be one is left out', () => {
  expect(lookAlikeWarnings('http://-.ü--\u0660.1\u0661')).toEqual([]);
  expect(lookAlikeWarnings(`http://ü.${'a'.repeat(1e5)}.com`)).toEqual([]);
});
