import { tool } from 'ai';
import { type Agent, type AgentOptions, createAgent, type ThreadStore } from 'holdpoint';
import { z } from 'zod';
import type { PlayedModel, ScriptedStep } from './script.ts';
import { scriptedModel } from './scripted-model.ts';
import { storeKits } from './store-kits.ts';

/** A call that a tool of the world really ran. */
export interface Ran {
  name: string;
  input: unknown;
  idempotencyKey: unknown;
}

/** An agent's world in a test: a model, a store that outlives agents, tools, and what they did. */
export interface TravelWorld {
  /** What ran, in the order it ran: the effects that must never double. */
  ran: Ran[];
  requests(): number;
  /** A new agent, as a new process would make it: nothing shared but the store, the model and the world outside. */
  agent(options?: Partial<AgentOptions>): Agent;
}

/** The inputs of `book` and `look`. */
export const cityInput = z.object({ city: z.string(), price: z.number().optional() });

/** The tools of the world: `book` needs approval, `look` does not, `fail` throws. */
export function travelTools(ran: Ran[]) {
  const recording = (name: string, result: (city: string) => unknown) =>
    tool({
      description: `${name} a flight`,
      inputSchema: cityInput,
      async execute(input, options) {
        ran.push({ name, input, idempotencyKey: Reflect.get(options, 'idempotencyKey') });
        return result(input.city);
      },
    });
  return {
    book: recording('book', (city) => ({ booked: city })),
    look: recording('look', (city) => `a flight to ${city}`),
    fail: recording('fail', (city) => {
      throw new Error(`no flight to ${city}`);
    }),
  };
}

/** Tools of the world of which `book` takes no price above 1,000: only the server knows that. */
export function limitPrice({ book: plain, ...others }: ReturnType<typeof travelTools>) {
  const inputSchema = cityInput.extend({ price: z.number().max(1_000).optional() });
  return { ...others, book: { ...plain, inputSchema } };
}

/** A world around a played model and a store; `speak` is what is done to its agents. */
export function travelWorld(
  played: Pick<PlayedModel, 'model' | 'requests'>,
  open: () => ThreadStore,
  speak: (agent: Agent) => Agent = (agent) => agent,
) {
  const ran: Ran[] = [];
  const world: TravelWorld = {
    ran,
    requests: () => played.requests,
    agent: (options = {}) =>
      speak(
        createAgent({
          model: played.model,
          tools: travelTools(ran),
          toolApproval: { book: 'user-approval' },
          store: open(),
          maxRetries: 0,
          ...options,
        }),
      ),
  };
  return world;
}

/** A world in memory that plays `script`. */
export function memoryWorld(script: ScriptedStep[]) {
  const played = scriptedModel(script);
  const kept = storeKits[0]?.keep();
  if (kept === undefined) throw new Error('There is no store.');
  const store = kept.open();
  return { ...travelWorld(played, () => store), played, store };
}

/** A scripted call of `book`. */
export function book(id: string, city: string) {
  return { id, name: 'book', input: { city } };
}

/** A scripted call of `look`. */
export function look(id: string, city: string) {
  return { id, name: 'look', input: { city } };
}
