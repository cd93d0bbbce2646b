import { expect, test } from 'vitest';
import { describeSize, detectFileType, readBase64 } from '../../src/apps/inbox/page/file-type.ts';
import { readAddress } from '../../src/apps/inbox/page/web-address.ts';

test.each<[string, string, string]>([
  ['\x89PNG\r\n\x1a\n\0', 'PNG image', 'image'],
  ['\xff\xd8\xff\xe0', 'JPEG image', 'image'],
  ['GIF89a\0', 'GIF image', 'image'],
  ['RIFF\0\0\0\0WEBPVP8 ', 'WebP image', 'image'],
  ['%PDF-1.7\0', 'PDF document', 'binary'],
  ['PK\x03\x04\0', 'ZIP archive, or an Office document', 'binary'],
  ['MZ\x90\0', 'Windows program', 'binary'],
  ['MZ is how this text begins', 'text', 'text'],
  ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'SVG image', 'image'],
  ['<?xml version="1.0"?><!-- a --><svg>', 'SVG image', 'image'],
  ['<html><svg></svg></html>', 'text', 'text'],
  ['hello', 'text', 'text'],
  ['\xff\xfe\xfd', 'binary file', 'binary'],
  ['a\0b', 'binary file', 'binary'],
])('a file that begins with %j is a %s', (binary, name, kind) => {
  const bytes = Uint8Array.from(binary, (each) => each.charCodeAt(0));
  expect(detectFileType(bytes)).toMatchObject({ name, kind });
});

test('only base64 is read as bytes', () => {
  expect(readBase64('aGk=')).toEqual(Uint8Array.of(104, 105));
  for (const text of ['aGk', 'a Gk=', 'aG-_', 'data:,x', '====']) {
    expect([text, readBase64(text)]).toEqual([text, undefined]);
  }
});

test('a size is exact, and short beside', () => {
  expect(describeSize(999, 'en')).toBe('999 bytes');
  expect(describeSize(5_000_000, 'en')).toBe('5,000,000 bytes (5 MB)');
});

test.each([
  ['https://example.com/a?b', 'https://', 'example.com', '/a?b', undefined],
  ['https://paypal.com@evil.example/x', 'https://paypal.com@', 'evil.example', '/x', undefined],
  ['https://xn--ypal-43d9g.com/', 'https://', 'xn--ypal-43d9g.com', '/', 'раypal.com'],
  ['https://b\u00fccher.example', 'https://', 'xn--bcher-kva.example', '/', 'bücher.example'],
  ['mailto:a@xn--bcher-kva.example', 'mailto:a@', 'xn--bcher-kva.example', '', 'bücher.example'],
  [
    'https://example.com:8443/@evil.example',
    'https://',
    'example.com',
    ':8443/@evil.example',
    undefined,
  ],
  ['https://[::1]/', 'https://', '[::1]', '/', undefined],
])('the host of %s is set apart', (url, before, host, after, unicodeHost) => {
  const parts = readAddress(url);
  expect(parts).toMatchObject({ before, host, after });
  expect(parts.unicodeHost).toBe(unicodeHost);
  expect(parts.href).toBe(`${before}${host}${after}`);
});

test('an address in the app is one of its host', () => {
  expect(readAddress('/chat/t1', 'https://app.example/inbox')).toEqual({
    href: 'https://app.example/chat/t1',
    before: 'https://',
    host: 'app.example',
    after: '/chat/t1',
  });
  expect(readAddress('javascript:alert(1)', 'https://app.example/inbox').href).toBe(undefined);
});

test.each(['javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', '/relative', 'a b'])(
  '%s is shown and can’t be opened',
  (url) => {
    expect(readAddress(url)).toEqual({ before: url, host: '', after: '' });
  },
);
