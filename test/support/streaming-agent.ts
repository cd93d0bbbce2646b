import type { Agent } from 'holdpoint';

/** The agent, each of its runs a stream that is read to its end. */
export function streamingAgent<RUNTIME_CONTEXT>(
  agent: Agent<RUNTIME_CONTEXT>,
): Agent<RUNTIME_CONTEXT> {
  return {
    get name() {
      return agent.name;
    },
    now: () => agent.now(),
    thread: (...input) => agent.thread(...input),
    async run(...input) {
      for await (const event of agent.stream(...input)) {
        if (event.type === 'finish') return event.response;
        if (event.type === 'error') throw event.error;
      }
      throw new Error('The stream had no last event.');
    },
    async resume(thread, options) {
      return this.run([], thread, options);
    },
    stream: (...input) => agent.stream(...input),
    respond: (...input) => agent.respond(...input),
    rights: (...input) => agent.rights(...input),
    requests: (query) => agent.requests(query),
    requestApproval: (...input) => agent.requestApproval(...input),
    withdraw: (...input) => agent.withdraw(...input),
    remember: (...input) => agent.remember(...input),
    reassign: (...input) => agent.reassign(...input),
    grants: (...input) => agent.grants(...input),
    revoke: (...input) => agent.revoke(...input),
    requestAnswer: (...input) => agent.requestAnswer(...input),
    settle: (...input) => agent.settle(...input),
    deliver: (...input) => agent.deliver(...input),
    stop: (...input) => agent.stop(...input),
    retract: (...input) => agent.retract(...input),
    cancel: (...input) => agent.cancel(...input),
    restore: (...input) => agent.restore(...input),
    adopt: (...input) => agent.adopt(...input),
    delete: (...input) => agent.delete(...input),
    on: (...input) => agent.on(...input),
  };
}

/** The two ways to run an agent, and what each does to it. */
export const modes: { mode: 'run' | 'stream'; speak: (agent: Agent) => Agent }[] = [
  { mode: 'run', speak: (agent) => agent },
  { mode: 'stream', speak: streamingAgent },
];
