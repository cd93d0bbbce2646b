import { expect, test } from 'vitest';
import { Inbox } from '../../src/apps/inbox/page/inbox.ts';
import { InboxClient } from '../../src/apps/inbox/page/inbox-client.ts';
import { inboxOf, office } from './inbox-site.ts';

test('what the page has the browser load ahead is what it asks first, to the letter', async () => {
  const { send } = inboxOf(office([]).agent);
  const html = await (await send('ben', '')).text();
  const [, href = ''] =
    /<link rel="preload" as="fetch" href="([^"]+)" crossorigin>/.exec(html) ?? [];
  const asked: string[] = [];
  const client = new InboxClient({
    api: '/inbox/api/',
    fetch: async (url) => {
      asked.push(url);
      return send('ben', url.slice('/inbox'.length));
    },
    now: () => 0,
    onOtherViewer: () => {},
  });
  await new Inbox(client, () => 0).setQuery({ list: 'mine' });
  expect(asked[0]).toBe(href.replaceAll('&#38;', '&'));
});
