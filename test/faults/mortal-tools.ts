import { tool, type ToolSet } from 'ai';
import { type AgentOptions, later } from 'holdpoint';
import { z } from 'zod';
import { cityInput } from '../support/travel-world.ts';
import type { Effect } from './evidence.ts';
import type { MortalProcess } from './mortal-process.ts';
import type { MortalWorld } from './mortal-world.ts';

type ToolRecovery = NonNullable<AgentOptions['toolRecovery']>[string] & {};

/** The output of a tool that was called with this input, whoever knows it. */
export function outputOf({ toolName, input }: Pick<Effect, 'toolName' | 'input'>) {
  return { [toolName]: cityInput.parse(input).city };
}

/** The tools of a mortal world as one process has them: each time their server is reached, the process may die. */
export function mortalTools(world: MortalWorld, process: MortalProcess) {
  const { defers } = world.scenario;
  const book =
    defers === undefined
      ? working('book', world, process)
      : (defers === 'later' ? queueing : outside)('book', world, process);
  const recoveries = ['book', 'look'].map(
    (name) => [name, recovery(name, world, process)] as const,
  );
  return {
    tools: { book, look: working('look', world, process) },
    toolRecovery: Object.fromEntries(recoveries),
  };
}

function described(toolName: string, { scenario, acknowledged }: MortalWorld) {
  const isDeployed = scenario.remakes === true && acknowledged.length > 0;
  return {
    description: `${toolName} a flight`,
    inputSchema: isDeployed ? shoutedInput : cityInput,
  };
}

const shoutedInput = cityInput.extend({ city: z.string().toUpperCase() });

/** A tool that does its work. */
function working(toolName: string, world: MortalWorld, process: MortalProcess): ToolSet[string] {
  return tool({
    ...described(toolName, world),
    execute: async (input, options) =>
      process.reach(async () => {
        const begun = begunAt(world, process, options);
        const request = { ...(await requestOf(toolName, world, { input, ...options })), begun };
        world.server.run(request);
        return outputOf(request);
      }),
  });
}

/** A tool that leaves its work to others. */
function queueing(toolName: string, world: MortalWorld, process: MortalProcess): ToolSet[string] {
  const queue: ToolSet[string] = tool({
    ...described(toolName, world),
    execute: async (input, options) =>
      process.reach(async () => {
        await world.server.enqueue(await requestOf(toolName, world, { input, ...options }));
        return later;
      }),
  });
  return Object.assign(queue, { [Symbol.for('holdpoint.answering')]: telling(world, process) });
}

/** How the server of a tool is told what a person answered. */
function telling(world: MortalWorld, process: MortalProcess) {
  return {
    deliver: async (answer: unknown) =>
      process.reach(async () => {
        const { call, response } = toldSchema.parse(answer);
        const revision = (await world.events()).length;
        const [optionId = ''] = response.answers[0]?.optionIds ?? [];
        world.server.tell(call.toolCallId, { optionId, revision });
      }),
  };
}

const toldSchema = z.object({
  call: z.object({ toolCallId: z.string() }),
  response: z.object({ answers: z.array(z.object({ optionIds: z.array(z.string()) })) }),
});

/** A tool that the client has, and the agent has not. */
function outside(toolName: string, world: MortalWorld): ToolSet[string] {
  return tool({ ...described(toolName, world), outputSchema: z.record(z.string(), z.string()) });
}

function recovery(toolName: string, world: MortalWorld, process: MortalProcess): ToolRecovery {
  const { reconciles, maxAttempts } = world.scenario;
  const reconcile: ToolRecovery['reconcile'] = async (call) =>
    process.reach(async () => {
      const question = await requestOf(toolName, world, call);
      const found = world.server.whatBecameOf(question, { closes: reconciles === 'always' });
      if (found !== undefined) return { status: 'succeeded', output: outputOf(found) };
      return reconciles === 'always' ? { status: 'failed', error: 'It never came.' } : undefined;
    });
  return {
    ...(reconciles === undefined ? {} : { reconcile }),
    ...(maxAttempts === undefined ? {} : { idempotent: true, maxAttempts }),
  };
}

/** Which attempt begins, and when, by the clock of its own process. */
function begunAt(world: MortalWorld, process: MortalProcess, options: object) {
  return { attempt: Number(Reflect.get(options, 'attempt')), now: world.timeOf(process) };
}

/** What the server of a tool gets, and when. */
async function requestOf(
  toolName: string,
  world: MortalWorld,
  call: { input: unknown; toolCallId: string },
): Promise<Effect> {
  const { input, toolCallId } = call;
  const idempotencyKey = String(Reflect.get(call, 'idempotencyKey'));
  const revision = (await world.events()).length;
  return { toolName, toolCallId, idempotencyKey, input, revision };
}
