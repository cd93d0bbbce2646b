import { tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { finishPart, textParts } from '../support/streamed-model.ts';
import { cityInput, travelTools } from '../support/travel-world.ts';
import { chatPage, comparable, openApprovals, toolParts } from './chat-page.ts';
import { call, city, streamingSite } from './streaming-site.ts';
import { waitUntil } from '../support/waiting.ts';

/** A tool that looks in two places, the second when the test says so; it fails where the test says that. */
function searching() {
  const second = Promise.withResolvers<void>();
  const look = tool({
    inputSchema: cityInput,
    async *execute({ city: name }) {
      yield { found: [], city: name };
      yield { found: ['AF1'], city: name };
      await second.promise;
      yield { found: ['AF1', 'BA2'], city: name };
    },
  });
  return { look, second };
}

const answers = (name: string) => [
  [...call('c1', name, city), finishPart('tool-calls')],
  [...textParts('0', 'Two.'), finishPart()],
];
const some = { state: 'output-available', preliminary: true, output: { found: ['AF1'] } };
const all = { state: 'output-available', output: { found: ['AF1', 'BA2'] } };
const showsSome = ({ chat }: Pick<ReturnType<typeof chatPage>, 'chat'>) =>
  waitUntil(() => JSON.stringify(toolParts(chat.messages)).includes('AF1'));

describe('S13-18: what a tool has so far', () => {
  test('is on the page while it works, gives way to the result, and is not recorded', async () => {
    const { look, second } = searching();
    const at = streamingSite(answers('look'), { tools: { ...travelTools([]), look } });
    const sent = at.chat.sendMessage({ text: 'Look' });
    await showsSome(at);
    expect(toolParts(at.chat.messages)).toMatchObject([some]);
    const { events } = await at.agent.thread('t');
    expect(JSON.stringify(events)).not.toContain('AF1');
    second.resolve();
    await sent;
    expect(toolParts(at.chat.messages)).toMatchObject([all]);
    expect(toolParts(at.chat.messages)[0]).not.toHaveProperty('preliminary', true);
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
    const recorded = JSON.stringify((await at.agent.thread('t')).events);
    expect(recorded).not.toContain('"found":["AF1"]');
    expect(recorded).toContain('"found":["AF1","BA2"]');
  });

  test('is shown after an approval, and to a page that is reloaded meanwhile', async () => {
    const { look: book, second } = searching();
    const at = streamingSite(answers('book'), {
      tools: { ...travelTools([]), book },
      pollMs: 3_600_000,
    });
    await at.chat.sendMessage({ text: 'Book' });
    const answered = at.respond(openApprovals(at.chat.messages)[0] ?? '', true);
    await showsSome(at);
    expect(toolParts(at.chat.messages)).toMatchObject([some]);
    const page = chatPage(at.handler, { messages: await at.reloaded() });
    const resumed = page.chat.resumeStream();
    await showsSome(page);
    expect(toolParts(page.chat.messages)).toMatchObject([some]);
    second.resolve();
    await Promise.all([answered, resumed]);
    for (const { chat, errors } of [at, page]) {
      expect(errors).toEqual([]);
      expect(toolParts(chat.messages)).toMatchObject([all]);
      expect(comparable(chat.messages)).toEqual(comparable(await at.reloaded()));
    }
  });

  test('goes when the tool fails', async () => {
    const { look, second } = searching();
    const at = streamingSite(answers('look'), { tools: { ...travelTools([]), look } });
    const sent = at.chat.sendMessage({ text: 'Look' });
    await showsSome(at);
    second.reject(new Error('away'));
    await sent;
    expect(toolParts(at.chat.messages)).toMatchObject([{ state: 'output-error' }]);
    expect(JSON.stringify(at.chat.messages)).not.toContain('AF1');
    expect(comparable(at.chat.messages)).toEqual(comparable(await at.reloaded()));
  });
});
