import { createLinks } from 'holdpoint/links';
import { secretKey, url, Visitor } from '../links/link-desk.ts';
import type { Do, Driver, Person } from './acts.ts';
import { letIn } from './http-drivers.ts';
import { openScene, threadOf, type World } from './scenes.ts';

/** A button of the page that a link leads to. Mallory has Ada's link, and is not signed in as her. */
async function press(
  world: World,
  by: Person,
  action: string,
  fields: Record<string, string> = {},
): Promise<string | undefined> {
  const [request] = (await threadOf(world)).activeRequests;
  if (request === undefined) throw new Error('Nothing is asked.');
  const links = createLinks({
    agents: [world.agent],
    url,
    keys: [secretKey('one')],
    requireSignIn: () => letIn(by),
  });
  const invited = by === 'mallory' || by === 'nobody' ? 'ada' : by;
  const link = await links.create(request, { principal: invited });
  const { status } = await new Visitor(links.handler, link).press(action, fields);
  return status < 400 ? undefined : `HTTP ${status}`;
}

function button(action: string, fields?: Record<string, string>): Do {
  return async (world, by) => press(world, by, action, fields);
}

/** What a page of a link sends. */
export const linksDriver: Driver = {
  channel: 'link',
  open: openScene,
  ways: {
    approve: button('approve'),
    reject: button('reject', { reason: 'Too dear.' }),
    'answer-question': button('answer', { 'option.0': '0' }),
  },
  async force(act, world, by) {
    const { activeRequests } = await threadOf(world);
    return activeRequests.length === 0 ? undefined : press(world, by, act);
  },
};
