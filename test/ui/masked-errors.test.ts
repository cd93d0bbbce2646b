import { describe, expect, test } from 'vitest';
import { finishPart, textParts } from '../support/streamed-model.ts';
import { comparable, toolParts } from './chat-page.ts';
import { call, city, streamingSite } from './streaming-site.ts';

const answers = [
  [...call('c1', 'fail', city), finishPart('tool-calls')],
  [...textParts('0', 'Sorry.'), finishPart()],
];

function inPlainWords(error: unknown): string {
  return error instanceof Error && error.message.includes('flight') ? 'No such flight.' : 'Hm.';
}

describe("S13-11: a tool's error", () => {
  test('shows a person that the call failed, and nothing of what the tool said, live and after a reload', async () => {
    const at = streamingSite(answers);
    await at.chat.sendMessage({ text: 'Go' });
    const failed = [{ state: 'output-error', errorText: 'An error occurred.' }];
    expect(toolParts(at.chat.messages)).toMatchObject(failed);
    expect(JSON.stringify(at.chat.messages)).not.toContain('no flight');
    expect(toolParts(await at.reloaded())).toMatchObject(failed);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test("shows a person what the app's onError makes of it, live and after a reload", async () => {
    const at = streamingSite(answers, { onError: inPlainWords });
    await at.chat.sendMessage({ text: 'Go' });
    expect(toolParts(at.chat.messages)).toMatchObject([{ errorText: 'No such flight.' }]);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('is shown as the model got it where the app says so', async () => {
    const at = streamingSite(answers, { redactToolErrors: false, onError: () => 'Hm.' });
    await at.chat.sendMessage({ text: 'Go' });
    expect(toolParts(at.chat.messages)).toMatchObject([{ errorText: 'no flight to Rome' }]);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });

  test('that a provider ran is masked as well', async () => {
    const at = streamingSite([
      [
        {
          type: 'tool-call',
          toolCallId: 'p1',
          toolName: 'search',
          input: '{}',
          providerExecuted: true,
          dynamic: true,
        },
        {
          type: 'tool-result',
          toolCallId: 'p1',
          toolName: 'search',
          result: 'secret of the provider',
          isError: true,
          dynamic: true,
        },
        ...textParts('0', 'Sorry.'),
        finishPart(),
      ],
    ]);
    await at.chat.sendMessage({ text: 'Go' });
    expect(toolParts(at.chat.messages)).toMatchObject([
      { state: 'output-error', errorText: 'An error occurred.' },
    ]);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });
});

describe('S13-11: the end of a reply says why it ended', () => {
  test.each(['stop', 'length'] as const)('%s', async (reason) => {
    const ends: (string | undefined)[] = [];
    const at = streamingSite(
      [[...textParts('0', 'Hello.'), finishPart(reason)]],
      {},
      { onFinish: ({ finishReason }) => void ends.push(finishReason) },
    );
    await at.chat.sendMessage({ text: 'Go' });
    expect(ends).toEqual([reason]);
  });

  test('tool-calls where a person is asked, and stop after the answer, also in a tab that asks again', async () => {
    const ends: (string | undefined)[] = [];
    const at = streamingSite(
      [
        [...call('c1', 'book', city), finishPart('tool-calls')],
        [...textParts('0', 'Booked.'), finishPart()],
      ],
      {},
      { onFinish: ({ finishReason }) => void ends.push(finishReason) },
    );
    await at.chat.sendMessage({ text: 'Go' });
    const [part] = toolParts(at.chat.messages);
    await at.respond(part?.approval?.id ?? '', true);
    expect(ends).toEqual(['tool-calls', 'stop']);
    await at.chat.resumeStream();
    await at.chat.sendMessage();
    await at.quiet();
    expect(ends).toEqual(['tool-calls', 'stop', 'stop', 'stop']);
  });
});
