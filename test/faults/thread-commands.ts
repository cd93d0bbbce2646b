import * as fc from 'fast-check';
import { type AgentThread, HoldpointError } from 'holdpoint';
import { expect } from 'vitest';
import { noteCaller } from '../../src/agent/agent-door.ts';
import { holdMs, owners, type ScheduledProcess, type ScheduledWorld } from './scheduled-world.ts';
import { sendAnswer } from './thread-moves.ts';
import type { ForeseenAnswer, ForeseenCall, ThreadOracle } from './thread-oracle.ts';

/** A thread, and the process it is in at the time. */
interface RealThread {
  world: ScheduledWorld;
  process: ScheduledProcess;
}

type ThreadCommand = fc.AsyncCommand<ThreadOracle, RealThread>;

/** A move that is always possible: what the oracle says of it, and the move itself. */
class PlainCommand implements ThreadCommand {
  readonly #name: string;
  readonly #foresee: (oracle: ThreadOracle) => string;
  readonly #perform: (real: RealThread) => Promise<string>;

  constructor(
    name: string,
    foresee: (oracle: ThreadOracle) => string,
    perform: (real: RealThread) => Promise<string>,
  ) {
    this.#name = name;
    this.#foresee = foresee;
    this.#perform = perform;
  }

  check(): boolean {
    return true;
  }

  async run(oracle: ThreadOracle, real: RealThread): Promise<void> {
    const foreseen = this.#foresee(oracle);
    await expectForeseen(oracle, real, foreseen, this.#perform(real));
  }

  toString(): string {
    return this.#name;
  }
}

/** An answer to a request that waits for one, or, again, to one that has ended. */
class AnswerCommand implements ThreadCommand {
  readonly #answer: ForeseenAnswer & { nth: number; again: boolean };

  constructor(answer: ForeseenAnswer & { nth: number; again: boolean }) {
    this.#answer = answer;
  }

  check(oracle: ThreadOracle): boolean {
    return this.#pick(oracle) !== undefined;
  }

  async run(oracle: ThreadOracle, real: RealThread): Promise<void> {
    const call = this.#pick(oracle);
    if (call === undefined) return;
    const { approved, edited, runs } = this.#answer;
    const request = [...real.world.requests.values()][oracle.asked.indexOf(call)];
    if (request === undefined) throw new Error('The oracle foresees a request that nobody saw.');
    const foreseen = oracle.answer(call, this.#answer);
    const way = runs ? 'run' : 'respond';
    const sent = sendAnswer(real.process, request, { approved, edited, way });
    await expectForeseen(oracle, real, foreseen, sent);
  }

  toString(): string {
    return `answer ${JSON.stringify(this.#answer)}`;
  }

  #pick({ asked }: ThreadOracle): ForeseenCall | undefined {
    const { nth, again } = this.#answer;
    const choice = asked.filter(({ status }) => (status === 'waiting') !== again);
    return choice[nth % choice.length];
  }
}

const answers = fc.record({
  nth: fc.nat(5),
  approved: fc.boolean(),
  runs: fc.boolean(),
});

/** Every command that a thread takes from one process after the other. */
export const threadCommands: fc.Arbitrary<ThreadCommand>[] = [
  fc.constantFrom('refuse' as const, 'cancel' as const).map(say),
  fc.constant(say('refuse')),
  answers.map((answer) => new AnswerCommand({ ...answer, edited: false, again: false })),
  answers.map((answer) => new AnswerCommand({ ...answer, edited: false, again: false })),
  answers.map((answer) => new AnswerCommand({ ...answer, edited: false, again: true })),
  answers.map((answer) => new AnswerCommand({ ...answer, edited: true, again: false })),
  fc.constant(
    new PlainCommand(
      'cancel',
      (oracle) => oracle.cancel(),
      async ({ process: { agent, thread } }) =>
        (await agent.cancel(thread, undefined, { principal: 'ann' })).status,
    ),
  ),
  fc.constant(
    new PlainCommand(
      'resume',
      (oracle) => oracle.resume(),
      async ({ process: { agent, thread } }) => (await agent.run([], thread)).status,
    ),
  ),
  fc.constantFrom(1, holdMs - 1, holdMs).map(wait),
  fc.nat(5).map(sayAgain),
  fc.boolean().map(meddle),
  fc.constantFrom('waiting' as const, 'pending' as const, 'informed' as const).map(noteClient),
  fc.constant(new PlainCommand('restart', () => 'restarted', restart)),
  fc.constant(new PlainCommand('restore', () => 'restored', restore)),
];

function say(whilePending: 'refuse' | 'cancel'): ThreadCommand {
  return new PlainCommand(
    `say (${whilePending})`,
    (oracle) => oracle.say(whilePending),
    async ({ process: { agent, thread } }) =>
      (await agent.run('And more', thread, { whilePending, messageId: nextId(thread) })).status,
  );
}

/** The id of the next message: its number. */
function nextId({ events }: AgentThread): string {
  return `${events.filter(({ type }) => type === 'message-added').length + 1}`;
}

/** One of the messages again, and nothing is recorded for it. */
function sayAgain(nth: number): ThreadCommand {
  const pick = ({ turns }: ThreadOracle): number => 1 + (nth % turns);
  return {
    check: ({ turns }) => turns > 0,
    run: async (oracle, real) => {
      const again = pick(oracle);
      const foreseen = oracle.sayAgain(again);
      const { agent, thread } = real.process;
      const work = agent.run('And more', thread, { messageId: String(again) });
      await expectForeseen(
        oracle,
        real,
        foreseen,
        work.then(({ status }) => status),
      );
    },
    toString: () => `say again ${nth}`,
  };
}

/** Another agent tries what it may not, and adopts the thread perhaps, which is its own from then on. */
function meddle(adopts: boolean): ThreadCommand {
  return {
    check: ({ turns }) => turns > 0,
    run: async (oracle, real) => {
      const { world, process } = real;
      const owner = owners.find((each) => each !== process.owner);
      const other = await world.start('a stranger', owner === undefined ? {} : { owner });
      await expectForeseen(oracle, { world, process: other }, 'wrong-agent', tryAll(other));
      if (!adopts) return;
      await other.agent.adopt(other.thread);
      await expectForeseen(oracle, real, 'wrong-agent', tryAll(process));
      real.process = other;
    },
    toString: () => (adopts ? 'adopt' : 'meddle'),
  };
}

/** What an agent may not do with the thread of another; the last of its errors. */
async function tryAll({ agent, thread }: ScheduledProcess): Promise<string> {
  for (const work of [
    async () => agent.respond([], thread),
    async () => agent.cancel(thread),
    async () => agent.delete(thread),
  ])
    await expect(work()).rejects.toThrow('belongs to');
  return (await agent.run([], thread)).status;
}

/** A gate notes what has become of its client, which decides nothing. */
function noteClient(state: 'waiting' | 'pending' | 'informed'): ThreadCommand {
  return {
    check: ({ turns }) => turns > 0,
    run: async (oracle, real) => {
      const { agent, thread } = real.process;
      const note = async (): Promise<string> => {
        await noteCaller(agent, thread, () => ({ callerId: 'client', state }));
        return thread.caller?.state ?? 'nobody';
      };
      await expectForeseen(oracle, real, state, note());
    },
    toString: () => `note ${state}`,
  };
}

function wait(ms: number): ThreadCommand {
  const foresee = (oracle: ThreadOracle): string => {
    oracle.time += ms;
    return 'waited';
  };
  return new PlainCommand(`wait ${ms}`, foresee, async ({ world }) => {
    world.jump(ms);
    return 'waited';
  });
}

/** Another process goes on with what is in the store. */
async function restart(real: RealThread): Promise<string> {
  const { owner } = real.process;
  real.process = await real.world.start('another', { owner });
  return 'restarted';
}

/** Another process goes on with what is in the JSON form, in a store that has nothing yet. */
async function restore(real: RealThread): Promise<string> {
  const { world, process } = real;
  const text = JSON.stringify(process.thread);
  world.replaceStore();
  const other = await world.start('another', { owner: process.owner });
  if (process.thread.revision > 0) other.thread = await other.agent.restore(text);
  expect(JSON.stringify(other.thread)).toBe(text);
  real.process = other;
  return 'restored';
}

async function expectForeseen(
  oracle: ThreadOracle,
  { world, process }: RealThread,
  foreseen: string,
  work: Promise<string>,
): Promise<void> {
  const end = await work.catch((error: unknown) =>
    HoldpointError.isInstance(error) ? error.code : String(error),
  );
  const { thread } = process;
  world.show(thread);
  await world.look();
  const calls = thread.calls.map(({ toolName, status }) => `${toolName} ${status}`);
  expect({ end, status: thread.status, calls, open: thread.activeRequests.length }).toEqual({
    end: foreseen,
    status: oracle.status,
    calls: oracle.calls.map(({ tool, status }) => `${tool} ${status}`),
    open: oracle.calls.filter(({ status }) => status === 'waiting').length,
  });
}
