import { RemoteWorld } from '../rap/remote-world.ts';
import type { Driver, Person } from './acts.ts';
import type { World } from './scenes.ts';

const sides = new WeakMap<World, RemoteWorld>();

/** What the server of a remote tool posts to the address of its call; Mallory has guessed the address. */
async function post(world: World, by: Person, message: object): Promise<string | undefined> {
  const side = sides.get(world);
  if (side === undefined) throw new Error('There is no server.');
  const { last } = side.server;
  const guessed = new URL(last.callback_url);
  guessed.search = guessed.search.slice(0, -4);
  const at = by === 'mallory' ? { ...last, callback_url: guessed.href } : last;
  const status = await side.server.call(at, message);
  const { reason } = side.discarded.pop() ?? {};
  return status < 400 ? reason : `HTTP ${status}`;
}

/** What a tool's server calls back. */
export const rapDriver: Driver = {
  channel: 'rap',
  async open() {
    const side = await RemoteWorld.start();
    const { agent } = await side.called();
    const close = async () => side[Symbol.asyncDispose]();
    const world = { agent, store: side.open(), threadId: 't', close };
    sides.set(world, side);
    return world;
  },
  ways: {
    deliver: async (world, by) => post(world, by, { type: 'tool_result', text: 'Sent.' }),
  },
  force: async (act, world, by) => post(world, by, { type: act }),
};
