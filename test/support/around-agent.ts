import type { Agent } from 'holdpoint';

/** An app's own object around an agent: a worker of it can be given a store that watches what the worker does. */
export function aroundAgent(agent: Agent): Pick<Agent, 'name' | 'now' | 'thread' | 'run'> {
  return {
    name: agent.name,
    now: () => agent.now(),
    thread: async (...given) => agent.thread(...given),
    run: async (...given) => agent.run(...given),
  };
}
