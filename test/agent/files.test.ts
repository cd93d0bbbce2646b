import type { UserModelMessage } from 'ai';
import { expect, test } from 'vitest';
import { memoryWorld } from '../support/travel-world.ts';

type FilePart = Extract<Exclude<UserModelMessage['content'], string>[number], { type: 'file' }>;

const png = 'iVBORw0KGgo=';

async function sent(data: FilePart['data'], mediaType = 'image/png') {
  const agent = memoryWorld([{ text: 'Seen.' }]).agent();
  const thread = await agent.thread('t');
  const content: UserModelMessage['content'] = [
    { type: 'text', text: 'Look' },
    { type: 'file', data, mediaType, filename: 'a.png' },
  ];
  const ran = agent.run({ role: 'user', content }, thread);
  return { thread, text: ran.then(({ text }) => text) };
}

test.each<[string, FilePart['data'], string?]>([
  ['an https address', new URL('https://example.com/a.png')],
  ['an address as text', 'https://example.com/a.png'],
  ['a tagged address', { type: 'url', url: new URL('http://example.com/a.png') }],
  ["a provider's bucket", new URL('gs://bucket/a.png')],
  ['a data: URL', `data:image/png;base64,${png}`],
  ['a data: URL with parameters', `data:text/plain;charset=utf-8;base64,${png}`, 'text/plain'],
  ['base64', png],
  ['bytes', new Uint8Array([1, 2, 3])],
  ['tagged bytes', { type: 'data', data: new Uint8Array([1]) }],
  ['a top-level media type', png, 'image'],
])('%s goes to the model', async (_name, data, mediaType) => {
  const { text } = await sent(data, mediaType);
  expect(await text).toBe('Seen.');
});

test.each<[string, FilePart['data'], string, string?]>([
  ['javascript:', 'javascript:alert(1)', "begins with 'javascript:'"],
  ['a file of the server', new URL('file:///etc/passwd'), "begins with 'file:'"],
  ['a blob of the page', 'blob:https://example.com/1', "begins with 'blob:'"],
  ['an unknown scheme, tagged', { type: 'url', url: new URL('foo:bar') }, "begins with 'foo:'"],
  ['a data: URL that is not base64', 'data:text/plain,hello', 'is not of the form'],
  ['a data: URL without a type', `data:;base64,${png}`, 'is not of the form'],
  ['a data: URL of broken base64', 'data:image/png;base64,%%%', 'is not of the form'],
  ['text that is no base64', 'not base64!', 'neither a URL nor base64'],
  ['a megabyte of white space', ' '.repeat(1_000_000) + '%', 'neither a URL nor base64'],
  ['no media type', png, "'' is not a media type", ''],
  ['a malformed media type', png, 'is not a media type', 'image/'],
])('%s is refused before anything is recorded', async (_name, data, why, mediaType) => {
  const refused = { code: 'invalid-input', message: expect.stringContaining("file 'a.png'") };
  const { thread, text } = await sent(data, mediaType);
  await expect(text).rejects.toMatchObject(refused);
  await expect(text).rejects.toThrow(why);
  expect(thread.events).toEqual([]);
});
