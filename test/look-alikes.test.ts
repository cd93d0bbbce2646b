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

test.each([
  [
    'a slash that is none',
    'https://google.com\u2215login.evil.com',
    'google.xn--comlogin-0f7d.evil.com',
  ],
  [
    'a fraction slash',
    'https://google.com\u2044login.evil.com',
    'google.xn--comlogin-g03d.evil.com',
  ],
  [
    'the same without a scheme',
    'google.com\u2215login.evil.com',
    'google.xn--comlogin-0f7d.evil.com',
  ],
  ['another scheme', 'ssh://m\u00FCnchen.de:22/x', 'xn--mnchen-3ya.de'],
  ['capitals in the scheme', 'HTTPS://m\u00FCnchen.de', 'xn--mnchen-3ya.de'],
  ['an ideographic full stop', 'https://google\u3002com', 'google.com'],
  ['a hidden character', 'https://goo\u00ADgle.com', 'google.com'],
  ['percent signs', 'http://%D0%B0pple.com/', 'xn--pple-43d.com'],
  ['another host before its @', 'https://google.com@evil.com', 'evil.com'],
  ['a path of another host before its @', 'https://google.com\u2215login@evil.com', 'evil.com'],
  ['an address in one number', 'http://2130706433:4001/x', '127.0.0.1'],
  [
    'an end of another script',
    'http://\u043F\u0440\u0438\u043C\u0435\u0440.\u0440\u0444',
    'xn--e1afmkfd.xn--p1ai',
  ],
  [
    'no scheme, in Cyrillic letters alone',
    '\u0430\u0440\u0440\u04CF\u0435.com',
    'xn--80ak6aa92e.com',
  ],
  [
    'no scheme and a full stop of its own',
    '\u0430\u0440\u0440\u04CF\u0435\u3002com',
    'xn--80ak6aa92e.com',
  ],
  ['no scheme, in Greek letters alone', '\u03BD\u03BF\u03BF.com', 'xn--yxaea.com'],
  ['no scheme and an ending that is a file of scripts', '\u0430\u0440\u0440.sh', 'xn--80a6aa.sh'],
  ['markup around it', '<b>https://m\u00FCnchen.de</b>', 'xn--mnchen-3ya.de'],
])('a host with %s is spelled as the network does, once', (_what, text, host) => {
  const warnings = lookAlikeWarnings(`Go to ${text} now`);
  expect(warnings).toEqual([
    expect.stringMatching(`is the host ${host.replaceAll('.', String.raw`\.`)}$`),
  ]);
});

test('a bare host that mixes letters is spelled too', () => {
  expect(lookAlikeWarnings('r\u0430ypal.com')).toEqual([
    '"r\u0430ypal" mixes Latin and Cyrillic letters',
    '"r\u0430ypal.com" is the host xn--rypal-4ve.com',
  ]);
});

test.each(['\uFF0F', '\uFF03', '\uFF20', '\uFF1F', '\u2100'])(
  'a host that other software may cut at %s is named',
  (sign) => {
    expect(lookAlikeWarnings(`https://google.com${sign}login.evil.com`)).toEqual([
      `"google.com${sign}login.evil.com" is not a valid host`,
    ]);
  },
);

test.each([
  ['a difference', '\u0394t'],
  ['micrometres', '5 \u03BCm'],
  ['micrometres in one word', '5\u03BCm'],
  ['the micro sign', '5 \u00B5m'],
  ['micromoles', '20 \u03BCmol'],
  ['kiloohms', '10 k\u03A9'],
  ['the ohm sign', '10 k\u2126'],
  ['a circle', '2\u03C0r, \u03C0 \u2248 3.14'],
  ['degrees', '20 \u00B0C'],
  ['a product', '\u03B1x + \u03B2y = \u03C1g'],
  ['letters of their own', 'the \u03B1 and \u03BF of it'],
  ['a wave length', '\u03BBmax'],
])('nothing is said of %s', (_what, text) => {
  expect(lookAlikeWarnings(text)).toEqual([]);
});

test.each([
  ['a Greek letter that is no symbol', '\u03BFpenai'],
  ['a symbol in a longer word', '\u03C1aypal'],
  ['a capital', 'I\u0392M'],
  ['micro within a word', 'YouT\u03BCbe'],
])('%s is still named', (_what, text) => {
  expect(lookAlikeWarnings(text)).toEqual([`"${text}" mixes Latin and Greek letters`]);
});

test('a Greek capital among Cyrillic letters is named', () => {
  expect(lookAlikeWarnings('\u0393\u0410\u0417')).toEqual([
    '"\u0393\u0410\u0417" mixes Cyrillic and Greek letters',
  ]);
});

test.each([
  ['a domain of one script', 'пример.рф, ελλάδα.gr, 例え.jp, münchen.de, сосо.рф'],
  ['files', 'отчёт.pdf, хор.txt, /home/jörg/résumé.pdf, 写真.jpg'],
  ['a sentence without a space', 'Это всё.Затем дальше. これは。テスト'],
  ['a fraction', '1\u20442 or 1.5\u22152.5'],
  ['a URL in a sentence', '見て：https://example.com。 次 (https://example.com/ü)'],
  ['a user without a dot', 'https://user:word@example.com/'],
  ['a comment', '//Überweisung'],
])('nothing is said of %s', (_what, text) => {
  expect(lookAlikeWarnings(text)).toEqual([]);
});

test('a long text is searched in time', () => {
  const runs = ['a', '-', '.', '@', '\u2215', '//', 'а.', ':1'].map((part) => part.repeat(1e5));
  expect(lookAlikeWarnings(runs.map((run) => `https://${run}ü ${run}ü`))).toBeInstanceOf(Array);
});

test('they are found in every text of a value, and in the names of its fields, once each', () => {
  const value = { [mixed]: [{ to: mixed }], other: [[['\u0435nd']]] };
  expect(lookAlikeWarnings(value)).toEqual([
    `"${mixed}" mixes Latin and Cyrillic letters`,
    '"\u0435nd" mixes Latin and Cyrillic letters',
  ]);
});

test('shows five of many look-alikes, and the beginning of a long word', () => {
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
