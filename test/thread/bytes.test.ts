import { expect, test } from 'vitest';
import { sendAndOpen } from './send-and-open.ts';

const image = { type: 'file', mediaType: 'image/png' } as const;

test('bytes and URLs in messages come back as they were', async () => {
  const all = Uint8Array.from({ length: 256 }, (_, index) => index);
  const url = new URL('https://example.com/a.png?x=1#y');
  for (const data of [all, all.subarray(3, 8), new Uint8Array(), url]) {
    const part = { ...image, data };
    expect(await sendAndOpen(part)).toEqual({ role: 'user', content: [part] });
  }
});

test('data that looks like our form of bytes or URLs stays data', async () => {
  const options = { odd: { a: { $bytes: 'AA==' }, b: { $$url: 'x' }, c: { $buffer: 1 } } };
  const part = { type: 'text', text: 'Hi', providerOptions: options } as const;
  expect(await sendAndOpen(part)).toEqual({ role: 'user', content: [part] });
});
