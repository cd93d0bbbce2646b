import { askInTerminal } from 'holdpoint/terminal';
import { expect, test } from 'vitest';
import { newsroom } from '../support/newsroom.ts';
import { approving, keys, VirtualTerminal } from './virtual-terminal.ts';

test('the terminal asks what the steps of a custom agent ask, and the answers go back', async () => {
  const agent = newsroom();
  const thread = await agent.thread('t');
  let response = await agent.run('Announce it.', thread, { principal: 'ann' });

  const choosing = new VirtualTerminal();
  const tone = askInTerminal(response.userInputRequests, choosing);
  await choosing.ends('Friendly');
  expect(choosing.screen).toContain('Which tone?');
  await choosing.types(keys.enter);
  response = await agent.run((await tone) ?? [], thread);

  const desk = new VirtualTerminal();
  const publish = askInTerminal(response.userInputRequests, desk);
  await desk.ends('Reject with a reason');
  expect(desk.screen.split('\n').slice(0, 2)).toEqual([
    'Publish the Formal text?',
    'Asked for by: ann',
  ]);
  await desk.types(...approving);
  response = await agent.run((await publish) ?? [], thread);
  expect(response).toMatchObject({ status: 'completed', text: 'It was approved.' });
});
