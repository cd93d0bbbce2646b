import { describe, expect, test } from 'vitest';
import { finishPart, textParts } from '../support/streamed-model.ts';
import { post } from './chat-page.ts';
import { streamingSite } from './streaming-site.ts';

const says = (text: string) => [...textParts('0', text), finishPart()];
const png = 'data:image/png;base64,aGk=';

/** A file of a message, a good one but for what is said of it. */
const file = (wrong: object = {}) => ({
  type: 'file' as const,
  mediaType: 'image/png',
  filename: 'plan.png',
  url: png,
  ...wrong,
});

describe('S13-10: a file that no provider can take', () => {
  test.each([
    ['a script', { url: 'javascript:alert(1)' }, 'a javascript: address'],
    ['a file of the disk', { url: 'file:///etc/passwd' }, 'a file: address'],
    ['a blob of the page', { url: 'blob:http://page.test/1' }, 'a blob: address'],
    ['an unknown scheme', { url: 'cid:part1@mail' }, 'a cid: address'],
    ['no address', { url: 'plan.png' }, 'no valid address'],
    ['a data URL with no comma', { url: 'data:image/png;base64' }, 'malformed'],
    ['a data URL of text', { url: 'data:text/plain,hello' }, 'malformed'],
    ['a data URL with no type', { url: 'data:;base64,aGk=' }, 'malformed'],
    ['a data URL with two commas', { url: 'data:image/png;base64,aGk=,aGk=' }, 'base64'],
    ['bytes that are no base64', { url: 'data:image/png;base64,%%%' }, 'base64'],
    ['base64 that is cut off', { url: 'data:image/png;base64,aGkxa' }, 'base64'],
    ['an empty file', { url: 'data:image/png;base64,' }, 'empty'],
    ['no media type', { mediaType: '' }, 'media type'],
    ['a media type that is none', { mediaType: 'picture' }, 'media type'],
    [
      'a media type with parameters without end',
      { mediaType: `a/b${';c=d'.repeat(60)},` },
      'media type',
    ],
    ['a media type of several', { mediaType: 'image/png\n, text/html' }, 'media type'],
  ])(
    '%s: the page says which file and why, and the next message is taken',
    async (_name, wrong, why) => {
      const at = streamingSite([says('Hello.')]);
      await at.chat.sendMessage({ text: 'See', files: [file(), file(wrong)] });
      expect(at.sent.at(-1)?.status).toBe(400);
      expect(at.errors[0]?.message).toContain('plan.png');
      expect(at.errors[0]?.message).toContain(why);
      expect((await at.agent.thread('t')).revision).toBe(0);
      await at.chat.sendMessage({ text: 'Hi' });
      expect(at.chat.messages.at(-1)).toMatchObject({ role: 'assistant' });
      expect(at.heard.requests).toBe(1);
    },
  );

  test('is named by its place where it has no name', async () => {
    const at = streamingSite([says('Hello.')]);
    const { filename: _, ...nameless } = file({ url: 'javascript:alert(1)' });
    await at.chat.sendMessage({ text: 'See', files: [file(), nameless] });
    expect(at.errors[0]?.message).toContain('File 2 of the message');
  });

  test('has a name that can be read in the refusal, however long it is', async () => {
    const at = streamingSite([]);
    const message = {
      id: 'u',
      role: 'user',
      parts: [file({ filename: `${'x'.repeat(9_999)}\u202E`, url: 'javascript:1' })],
    };
    const response = await at.handler(post({ id: 't', message }));
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(400);
  });

  test.each([
    ['a picture', {}],
    ['a data URL with parameters', { url: 'data:text/plain;charset=utf-8;base64,aGk=' }],
    ['a type in capitals', { mediaType: 'Image/PNG', url: 'DATA:image/png;BASE64,aGk=' }],
    ['any picture', { mediaType: 'image/*' }],
    ['a document', { mediaType: 'application/vnd.ms-excel.sheet+xml' }],
  ])('%s is taken', async (_name, right) => {
    const at = streamingSite([says('Nice.')]);
    await at.chat.sendMessage({ text: 'See', files: [file(right)] });
    expect(at.errors).toEqual([]);
    expect(at.heard.requests).toBe(1);
  });
});
